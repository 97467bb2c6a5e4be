import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

/// The command `sync` of both tools: one command exchanges bundles with a stick in both directions.
struct Syncing {
  /// A bundle for the stick, or a reason why there is none.
  struct Outgoing {
    let to: String
    /// nil if the other side has everything.
    let file: String?
    let words: String
    var failure: Failure?
    /// Bundles that the other side must have before `file`.
    var before: [String] = []
    /// The content of a device's newest export; nil: it is not known here.
    var content: Content?

    struct Content {
      let changes: Int
      let files: Int
      /// The number of files that are left for a later export, because they did not fit.
      let filesLeft: Int

      fileprivate var members: [JSONValue.Member] {
        [
          .init(name: "changes", value: .integer(Int64(changes))),
          .init(name: "files", value: .integer(Int64(files))),
          .init(name: "files_left", value: .integer(Int64(filesLeft))),
        ]
      }
    }
  }

  /// How a bundle came onto the stick.
  private enum Placing {
    case put, wasThere
    case volumes(PutVolumes)
  }

  /// The result of an import.
  struct Import {
    var answer: Answer
    /// Files that need not be carried any more.
    var taken: [String] = []
    /// The number of files that were not imported, because too many files like them were refused.
    var leftAlone = 0
  }

  let tool: String
  let isRehearsal: Bool
  /// The name of this replica.
  let name: String
  let stick: Stick
  private let medium: Medium
  private let command: ParsedCommand
  /// The largest size of a bundle, as a person requested.
  private let size: Int64?
  /// Whether the size of the medium should be tested before anything is put there.
  private let mustProveSize: Bool

  /// Throws a `WorkspaceError` if the folder is in a place for sticks, and no stick is there.
  /// - Parameters:
  ///   - folder: the path of the stick.
  ///   - replica: the replica of this workspace.
  ///   - unknown: finds the files of the replica that the replica does not know.
  init(
    tool: String, _ command: ParsedCommand, _ context: CommandContext, stick folder: String,
    _ replica: WorkspaceConfiguration, unknown: Stick.UnknownOwn
  ) throws {
    self.tool = tool
    name = replica.name
    isRehearsal = command.dryRun
    self.command = command
    size = try command.bundleSize()
    _ = try command.parityShare()
    medium = try Medium(of: folder, context.platform.files)
    try medium.check(for: command)
    mustProveSize = medium.mustProveSize(for: command)
    stick = try Stick(folder, of: replica, context.platform, unknown: unknown)
  }

  /// Imports, makes bundles, and puts them on the stick. If the import or a later part fails, the other parts are still
  /// done. The answer reports everything that was done.
  /// - Parameters:
  ///   - waiting: waiting files of the workspace that can now be imported.
  ///   - take: imports these files, and the bundles on the stick that are for this replica.
  ///   - make: makes the bundles that are due, for the room on the stick. In a dry run, it only says which.
  ///   - cut: puts volumes of a bundle on a medium.
  ///   - made: the finished bundles that can be carried although a new bundle failed. Empty: there are none.
  func run(
    waiting: [String] = [], take: (_ waiting: [String], _ files: [String]) throws -> Import,
    make: (StickRoom) throws -> [Outgoing], cut: (Outgoing, String, StickVolumes) throws -> CarriedVolumes,
    made: (Failure) -> [Outgoing] = { _ in [] }
  ) throws -> Answer {
    var found = try stick.bundles()
    // A hub imports its own unknown bundles too. The import records the proof that the hub was set back, or keeps the
    // bundle.
    if tool == HubTool.name { found.bundles = stick.unknown.proofsOfHub.map(\.path) + found.bundles }
    let isIdle = waiting.isEmpty && found.bundles.isEmpty
    var result = Import(answer: Answer("Nothing for \(name) on the stick.\n", ["bundles": .array([])]))
    var left: [Outgoing]?
    if !isIdle {
      do { result = try take(waiting, found.bundles) } catch {
        let failure = Failure(error)
        result.answer.text = ""
        // The sync goes on after a failed import, because the export may remove the cause. But if another program works
        // on the database, the export would wait for that program too.
        if failure.code == .busy || failure.code == .usage {
          left = try self.made(before: error, made)
        } else {
          tell("", failure, &result.answer)
        }
      }
    }
    var answer = result.answer
    if !isRehearsal { answer.text = brief(answer.text) }
    // A file that was refused, or that waits, stays on the stick.
    let unknown = Set(stick.unknown.map(\.path))
    let gone = result.taken.filter { stick.holds($0) && !unknown.contains($0) }
    if !isRehearsal { attempt(&answer) { _ in try stick.take(gone) } }
    tellRefused(found, leftAlone: result.leftAlone, &answer)
    tellUnknown(&answer)
    var outgoing: [Outgoing] = []
    var failures = 0
    do { outgoing = try left ?? due(make, or: made) } catch  where !isIdle {
      tell("", Failure(error), &answer)
      failures += 1
    }
    let isTrue = isSizeTrue(for: outgoing, &answer)
    let put = put(isTrue ? outgoing : [], &answer, cut)
    failures += put.failures + (isTrue ? 0 : 1)
    attempt(&answer) { try finish(failures, put.missing, &$0) }
    if answer.code == .failed, put.count > 0 || !result.taken.isEmpty { answer.code = .partial }
    return answer
  }

  /// Returns the bundles that are due. If a new bundle cannot be made, returns the earlier bundles that can still be
  /// carried.
  private func due(_ make: (StickRoom) throws -> [Outgoing], or made: (Failure) -> [Outgoing]) throws -> [Outgoing] {
    do { return try make(StickRoom(on: stick, size: size)) } catch { return try self.made(before: error, made) }
  }

  /// Earlier bundles that can still be carried, although no new bundle could be made because of `error`. Throws `error`
  /// if there are none, or if another command works on this workspace.
  private func made(before error: any Error, _ made: (Failure) -> [Outgoing]) throws -> [Outgoing] {
    if case PlatformError.locked = error { throw error }
    let left = made(Failure(error))
    if left.isEmpty { throw error }
    return left
  }

  /// Reports the files of this replica that it does not know. They stay on the stick.
  private func tellUnknown(_ answer: inout Answer) {
    answer.members.append(.init(name: "unknown", value: .strings(stick.unknown.map(\.path))))
    for failure in stick.unknown.failures(at: tool).prefix(Self.mostTold) { tell("", failure, &answer) }
  }

  /// Reports paths that should hold bundles for this replica, but do not.
  private func tellRefused(_ found: StickBundles, leftAlone: Int, _ answer: inout Answer) {
    let told = found.refused.prefix(Self.mostTold)
    for refused in told {
      answer.warnings += Failure(refused).text
      answer.code = .refused
    }
    let rest = leftAlone + found.refused.count - told.count
    if rest > 0 {
      answer.warnings +=
        """
        \(Words.count(rest, "more file")) on the stick \(rest == 1 ? "was" : "were") left alone: too many like it \
        were refused.\n
        """
    }
    if found.strange > 0 {
      answer.text +=
        """
        \(Words.count(found.strange, "file")) for \(name) \(found.strange == 1 ? "has" : "have") no bundle's name, \
        and stay as they are.\n
        """
    }
    if found.forNamesakes > 0 {
      answer.text +=
        """
        \(Words.count(found.forNamesakes, "bundle")) for another replica with the name \(name) \
        \(found.forNamesakes == 1 ? "stays as it is" : "stay as they are").\n
        """
    }
    answer.members.append(.init(name: "refused", value: .strings(told.map(\.path))))
    answer.members.append(.init(name: "left_alone", value: .integer(Int64(rest + found.strange + found.forNamesakes))))
  }

  /// Tests whether the stick has the room that it reports. The stick is not tested if no bundle goes onto it. Bundles
  /// on the stick are imported before, because the test could damage the files of a false stick.
  private func isSizeTrue(for outgoing: [Outgoing], _ answer: inout Answer) -> Bool {
    guard mustProveSize, outgoing.contains(where: { $0.file != nil }) else { return true }
    do {
      answer.text += try SizeCheck.once(stick.layout.folder, stick.platform) ?? ""
      return true
    } catch {
      tell("", Failure(error), &answer)
      return false
    }
  }

  /// Puts bundles on the stick. Returns the number of bundles that were put there, the number of failures, and the
  /// number of volumes for other sticks.
  private func put(
    _ outgoing: [Outgoing], _ answer: inout Answer, _ cut: (Outgoing, String, StickVolumes) throws -> CarriedVolumes
  ) -> (count: Int, failures: Int, missing: Int) {
    var text: TerminalText = ""
    let idle = outgoing.count { $0.file == nil && $0.failure == nil }
    var documents: [JSONValue] = []
    var (count, failures, missing) = (0, 0, 0)
    for outgoing in outgoing {
      var (placing, words) = (nil as Placing?, outgoing.words)
      var failure = outgoing.failure
      // At a device, a bundle that could not be made failed because of the device itself, and not because of the hub.
      var about: TerminalText = tool == DeviceTool.name ? "" : "\(outgoing.to): "
      do { placing = try put(outgoing, cut) } catch {
        failure = Failure(error)
        about = "\(outgoing.to): "
        words += " It could not be put on the stick."
      }
      switch placing {
      case .put: count += 1
      case .wasThere: words += " It is on the stick already."
      case .volumes(let volumes):
        words += volumes.words
        missing += volumes.missing.count
        count += volumes.put.isEmpty ? 0 : 1
      case nil: break
      }
      if idle <= 3 || outgoing.file != nil || failure != nil { text += "For \(outgoing.to): \(words)\n" }
      if let failure {
        failures += 1
        tell(about, failure, &answer)
      }
      documents.append(Self.json(outgoing, placing))
    }
    answer.text += brief(text)
    if idle > 3 { answer.text += "Nothing for \(idle) others: they have everything.\n" }
    answer.members.append(.init(name: "outgoing", value: .array(documents)))
    return (count, failures, missing)
  }

  private static func json(_ outgoing: Outgoing, _ placing: Placing?) -> JSONValue {
    var (isPut, volumes) = (placing.map { _ in true }, nil as PutVolumes?)
    if case .wasThere = placing { isPut = false }
    if case .volumes(let put) = placing { (isPut, volumes) = (!put.put.isEmpty, put) }
    let placed: [JSONValue.Member] = [
      .init(name: "to", value: .string(outgoing.to)), .init(name: "file", value: .optional(outgoing.file)),
      .init(name: "put", value: isPut.map { .bool($0) } ?? .null),
    ]
    let members = placed + (outgoing.content?.members ?? [])
    guard let volumes else { return .object(members) }
    return .object(
      members + [
        .init(name: "parts", value: .integer(volumes.parts)), .init(name: "parity", value: .integer(volumes.parity)),
        .init(name: "volumes", value: .array(volumes.put.map { .integer($0) })),
        .init(name: "missing", value: .array(volumes.missing.map { .integer($0) })),
      ])
  }

  /// Puts a bundle on the stick, and returns how. In a dry run, returns how it would be put there. nil if there is no
  /// bundle.
  private func put(
    _ outgoing: Outgoing, _ cut: (Outgoing, String, StickVolumes) throws -> CarriedVolumes
  ) throws -> Placing? {
    guard let file = outgoing.file else {
      if outgoing.failure == nil, !isRehearsal { try stick.clear(to: outgoing.to) }
      return nil
    }
    // In a dry run, a bundle that is not made yet has no file.
    guard try stick.platform.files.kind(file) == .file || !isRehearsal else { return .put }
    if let excess = try BundleSize.excess(of: stick.platform.files.size(file), over: size, cut: cutting(outgoing)) {
      throw excess
    }
    guard try stick.fits(outgoing.before + [file], to: outgoing.to) else { return try putVolumes(outgoing, file, cut) }
    if isRehearsal { return .put }
    let isNew = try stick.put(file, behind: outgoing.before, to: outgoing.to)
    try carriedVolumes.forget { $0 == Paths.name(of: file) }
    return isNew ? .put : .wasThere
  }

  /// The command that cuts a bundle into volumes.
  private func cutting(_ outgoing: Outgoing) -> String {
    tool == DeviceTool.name ? "\(tool) export" : "\(tool) emit --device \(outgoing.to)"
  }

  /// Puts as many volumes of a bundle on the stick as fit.
  private func putVolumes(
    _ outgoing: Outgoing, _ file: String, _ cut: (Outgoing, String, StickVolumes) throws -> CarriedVolumes
  ) throws -> Placing {
    let medium = try StickVolumes(of: file, on: stick, to: outgoing.to)
    if isRehearsal { return .put }
    try stick.put(before: outgoing.before, to: outgoing.to)
    let put = PutVolumes(try cut(outgoing, file, medium))
    // No volume fits, and the stick has no volume of this bundle. So other files fill the stick.
    if put.put.isEmpty, !put.missing.isEmpty, try !medium.holdsVolumes(of: Paths.name(of: file)) {
      try stick.checkRoom(for: file, to: outgoing.to)
    }
    return .volumes(put)
  }

  /// The bundles of this workspace that sticks carry in volumes.
  private var carriedVolumes: CarriedVolumesFile {
    CarriedVolumesFile(WorkspaceFolder(command.directory), stick.platform.files)
  }

  private func finish(_ failures: Int, _ missing: Int, _ answer: inout Answer) throws {
    let others = try stick.countOfOthers()
    if others > 0 {
      answer.text +=
        "\(Words.count(others, "bundle")) for others \(others == 1 ? "stays as it is" : "stay as they are").\n"
    }
    if isRehearsal { return }
    try stick.explain()
    try stick.sync()
    let done: TerminalText =
      medium.isRemovable ? "The stick is safe to remove." : "Everything that fits is in the folder."
    if failures > 0 {
      answer.closing = "Not everything is on the stick: see above.\n"
    } else if answer.code != .done {
      answer.closing =
        medium.isRemovable
        ? "The stick is safe to remove, but not everything was done: see above.\n"
        : "Not everything was done: see above.\n"
    } else if missing > 0 {
      answer.closing = "\(done) Put the next stick in and run sync again.\n"
    } else {
      answer.closing =
        medium.isRemovable ? "Done: the stick is safe to remove.\n" : "Done: everything is in the folder.\n"
    }
  }

  private func attempt(_ answer: inout Answer, _ body: (inout Answer) throws -> Void) {
    do { try body(&answer) } catch { tell("", Failure(error), &answer) }
  }

  private func tell(_ before: TerminalText, _ failure: Failure, _ answer: inout Answer) {
    answer.warnings += before + failure.text
    if answer.code == .done { answer.code = failure.code }
    if !answer.members.contains(where: { $0.name == "error" }) {
      answer.members.append(.init(name: "error", value: failure.json))
    }
  }

  /// Shortens the text to its first lines and its last line, so that the other parts fit on a screen.
  private func brief(_ text: TerminalText) -> TerminalText {
    let lines = text.string.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    guard lines.count > Self.mostLines else { return text }
    let (first, last) = (lines.prefix(Self.mostLines - 2), lines.suffix(1))
    let more = "... and \(lines.count - first.count - 1) lines more; \(tool) log has them all."
    return (first + [Substring(more)] + last).map { "\($0)\n" as TerminalText }.joined()
  }

  private static let mostLines = 10
  private static let mostTold = 100
}
