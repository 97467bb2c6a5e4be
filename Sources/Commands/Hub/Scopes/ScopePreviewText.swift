import SatchelHub
import SatchelJSON
import SatchelPlatform

/// The effect of a change of rights: in words, as JSON, and as a question before the change.
struct ScopePreviewText {
  let preview: ScopePreview
  let words: TerminalText
  /// Whether the words were shown with a question already.
  private let wasShown: Bool

  /// Shows the effect, and asks the person at the terminal if users lose rows or rights.
  ///
  /// Throws a `WorkspaceError` if the answer is not yes.
  init(asking preview: ScopePreview, _ command: ParsedCommand, _ context: CommandContext) throws {
    self.preview = preview
    words = Self.text(preview, now: context.platform.clock.milliseconds())
    wasShown = (preview.taken > 0 || preview.readOnly > 0) && Confirmation.isAsked(command, context)
    if wasShown {
      context.console.warn(words)
      try Confirmation.ask(Self.question(preview), command, context)
    }
  }

  private static func question(_ preview: ScopePreview) -> TerminalText {
    let taken: TerminalText = "takes \(Words.count(preview.taken, "row")) away"
    let rights: TerminalText = "ends the right to change \(Words.count(preview.readOnly, "row"))"
    let effect: TerminalText =
      preview.readOnly == 0 ? taken : preview.taken == 0 ? rights : "\(taken) and \(rights)"
    return "This \(effect), from the next bundle on. Go on?"
  }

  /// The words for the answer. Empty if they were shown with the question.
  var answer: TerminalText { wasShown ? "" : words }

  var json: JSONValue {
    [
      "rows": .object(
        preview.tables.map {
          .init(
            name: $0.table.text,
            value: [
              "given": .integer(Int64($0.given)), "taken": .integer(Int64($0.taken)),
              "read_only": .integer(Int64($0.readOnly)),
            ])
        }),
      "devices": .array(
        preview.devices.map {
          [
            "device": .string($0.name), "user": .string($0.user), "given": .integer(Int64($0.given)),
            "taken": .integer(Int64($0.taken)), "read_only": .integer(Int64($0.readOnly)),
            "last_contact": .time($0.lastContact), "unsent": .bool($0.mayHaveUnsentWork),
          ]
        }),
    ]
  }

  private static func text(_ preview: ScopePreview, now: Int64) -> TerminalText {
    var text: TerminalText = "No user gets or loses rows.\n"
    if preview.given > 0 || preview.taken > 0 {
      var table = TextTable(["TABLE", .right("ROWS GIVEN"), .right("TAKEN")])
      for entry in preview.tables where entry.given > 0 || entry.taken > 0 {
        table.add([entry.table.text, "\(entry.given)", "\(entry.taken)"])
      }
      text = table.text(width: nil)
    }
    for words in lostRights(preview) { text += "\(words)\n" }
    if preview.devices.isEmpty { return text }
    var table = TextTable([
      "DEVICE", "USER", .right("ROWS GIVEN"), .right("TAKEN"), "LAST CONTACT", "WORK NOT SENT YET",
    ])
    for device in preview.devices {
      table.add([
        device.name, device.user, "\(device.given)", "\(device.taken)", Words.age(of: device.lastContact, now: now),
        device.mayHaveUnsentWork ? "possible" : "none",
      ])
    }
    text += table.text(width: nil)
    return text + lateWork(preview)
  }

  /// The rights to change rows that users lose.
  static func lostRights(_ preview: ScopePreview) -> [String] {
    preview.tables.filter { $0.readOnly > 0 }.map {
      "Users may no longer change \(Words.count($0.readOnly, "row")) of \($0.table) that they see."
    }
  }

  /// Says what happens to work that has not come to the hub yet. Empty if no device can have such work.
  static func lateWork(_ preview: ScopePreview) -> TerminalText {
    preview.devices.contains(where: mayConflict) ? lateWork : ""
  }

  private static func mayConflict(_ device: ScopePreview.Device) -> Bool {
    (device.taken > 0 || device.readOnly > 0) && device.mayHaveUnsentWork
  }

  private static let lateWork: TerminalText = """
    Changes to rows that are taken away, or that users may no longer change, may still come from these devices: \
    each becomes a conflict, unless the table has "late": "accept".

    """
}
