import SatchelJSON
import SatchelWorkspace

/// The content of `status` on both sides, for the terminal and for reports.
struct StatusSheet {
  /// One fact, such as `Backup` and its age.
  struct Fact {
    let name: String
    let words: String
  }

  /// Cells under titles.
  struct Table {
    let titles: [String]
    /// The indices of columns that hold numbers.
    var numbers: Set<Int> = []
    let rows: [[String]]

    /// The table for the terminal.
    var text: TerminalText {
      var table = TextTable(
        titles.enumerated().map { place, title in
          numbers.contains(place) ? .right(title.uppercased()) : .left(title.uppercased())
        })
      for row in rows { table.add(row) }
      return table.text(width: nil)
    }
  }

  let facts: [Fact]
  /// The next steps, the most urgent first.
  let steps: [String]
  var table: Table?

  /// The most steps that `status` shows. After a person has done these steps, `status` shows the next steps.
  private static let mostSteps = 3

  var text: TerminalText {
    var sheet = TextTable(["", ""])
    for fact in facts { sheet.add([fact.name, fact.words]) }
    var text = sheet.text(width: nil)
    if let table { text += "\n" + table.text }
    if steps.isEmpty { return text + "Next: nothing.\n" }
    for (place, step) in steps.prefix(Self.mostSteps).enumerated() {
      text += "\(place == 0 ? "Next" : "Then"): \(step)\n"
    }
    return text
  }
}

extension Quarantine.Refused {
  /// The refusal, and whether it still needs a person.
  var presentWords: String { hasCome ? "\(words) Its changes have come since, so it needs nothing more." : words }
}

extension StatusSheet {
  /// The step that a person must do about refused files. nil if no file needs a step.
  static func stepOfQuarantine(_ refused: [Quarantine.Refused], tool: String) -> String? {
    let isFull = Quarantine.isFull(refused.map(\.bytes))
    if !isFull, refused.allSatisfy(\.hasCome) { return nil }
    let reason = isFull ? "bundles/quarantine is full, and keeps no more refused files: " : ""
    return
      """
      \(reason)\(tool) quarantine list shows why files were refused. When you are done with a file: \(tool) \
      quarantine drop FILE
      """
  }

  static func json(_ refused: [Quarantine.Refused]) -> JSONValue {
    .array(
      refused.map {
        [
          "file": .string($0.file), "reason": .string($0.reason), "words": .string($0.words),
          "bytes": .integer($0.bytes), "came": .bool($0.hasCome),
        ]
      })
  }

  static let mostFailed = 5

  static func json(_ failed: [FailedImport]) -> JSONValue {
    .array(
      failed.map {
        [
          "file": .string($0.file), "from": .optional($0.origin?.senderName),
          "number": $0.origin.map { .integer($0.number) } ?? .null, "message": .string($0.message),
          "hint": .optional($0.hint), "at": .time($0.at),
        ]
      })
  }

  /// A list of facts that is built one by one.
  struct Facts {
    private(set) var all: [Fact] = []

    mutating func add(_ name: String, _ words: String) { all.append(Fact(name: name, words: words)) }

    mutating func add(volumes: [BundleParts.Waiting]) {
      for bundle in volumes {
        add("Volumes", "\(bundle.whole): \(Volumes.missing(bundle))")
      }
    }

    mutating func add(onSticks volumes: [CarriedVolumes]) {
      for bundle in volumes {
        add("On sticks", "\(bundle.whole): \(Volumes.missing(bundle))")
      }
    }

    mutating func add(missing: [MissingAttachment]) {
      for file in missing.prefix(AttachedWords.mostShown) {
        add("Missing", "the file \(file.path), which \(file.table) names: \(AttachedWords.words(file.why))")
      }
      let more = missing.count - AttachedWords.mostShown
      if more > 0 { add("Missing", "and \(Words.count(more, "more file")): status --json names all of them") }
    }

    mutating func add(failed: [FailedImport]) {
      for failure in failed.prefix(StatusSheet.mostFailed) { add("Failed", failure.words) }
      let more = failed.count - StatusSheet.mostFailed
      if more > 0 { add("Failed", "and \(Words.count(more, "more bundle")): status --json names all of them") }
    }

    mutating func add(quarantined: [Quarantine.Refused]) {
      let still = quarantined.filter { !$0.hasCome }
      if let newest = still.first {
        add("Quarantine", "\(Words.count(still.count, "refused file")); the newest, \(newest.file): \(newest.words)")
      }
      let came = quarantined.count - still.count
      if came > 0 { add("Quarantine", "\(Words.count(came, "refused file")) whose changes have come since") }
    }
  }
}
