import SatchelBundle
import SatchelCrypto
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Imports several files, each by itself, so that a bad file does not delay the others. Files that only waited for
/// another file are tried again.
struct ImportRounds {
  /// The report of a file that did not fail.
  struct Told {
    let text: TerminalText
    let json: JSONValue
    /// Whether the file need not be carried any more.
    let isTaken: Bool
  }

  enum Outcome {
    case told(Told)
    case failed(Failure)
  }

  private(set) var results: [(file: String, outcome: Outcome)] = []
  /// The fault of the workspace that ended the import after some files; nil: there was none.
  private(set) var stopped: Failure?
  /// Files that were not imported, because too many files of the same sender were refused.
  private(set) var leftAlone = 0
  /// The senders of files that an earlier sync refused for a lasting reason. These files still have the same bytes.
  private var refusedEarlier: Set<ReplicaID?> = []
  /// Whether a file was not imported because of the limit of its sender, and the sender is in `refusedEarlier`.
  private var isAnyUnread = false

  /// Whether a person named only one file. If this file is refused, the refusal is the answer of the command.
  private let isAlone: Bool
  private let mostRefused: Int
  /// The number of refused files, by sender.
  private var refused: [ReplicaID?: Int] = [:]
  /// For each bundle, whether it need not be carried any more. All files with the same bundle have the same outcome.
  private var known: [Digest: Bool] = [:]
  private var takenCopies: [String] = []

  /// The most files of one sender that are refused when a stick is synced. All files without a proved sender share one
  /// such limit.
  static let mostRefusedOfStick = 100
  /// The most rounds for files that wait for other files. A device's bundles in order need one round.
  private static let mostRounds = 10

  /// - Parameter body: imports one file and returns its report. If the workspace itself has a fault, which no file
  ///   causes, the whole import ends. Throws that fault if no file was imported before.
  init(_ files: [String], _ body: (_ file: String) throws -> Told) throws {
    if files.count > 1, files.contains(Streams.word) { throw UsageError("- is read once: give no other names with it") }
    try self.init(
      files.map { InspectedFile($0) }, mostRefused: .max, isAlone: files.count < 2, unopened: { _ in .unneeded }, body)
  }

  /// Imports the files of a stick. After `mostRefusedOfStick` refused files of one sender, its other files are left
  /// alone.
  /// - Parameter unopened: judges a file that no key here opens.
  init(
    stick files: [InspectedFile], unopened: (_ file: String) throws -> UnopenedFile = { _ in .unneeded },
    _ body: (_ file: String) throws -> Told
  ) throws {
    try self.init(files, mostRefused: Self.mostRefusedOfStick, isAlone: false, unopened: unopened, body)
  }

  private init(
    _ files: [InspectedFile], mostRefused: Int, isAlone: Bool,
    unopened: (_ file: String) throws -> UnopenedFile, _ body: (_ file: String) throws -> Told
  ) throws {
    self.mostRefused = mostRefused
    self.isAlone = isAlone
    do { try run(files, unopened: unopened, body) } catch {
      if taken.isEmpty { throw error }
      stopped = Failure(error)
    }
  }

  private mutating func run(
    _ files: [InspectedFile], unopened: (_ file: String) throws -> UnopenedFile, _ body: (_ file: String) throws -> Told
  ) throws {
    var waiting: [(file: InspectedFile, gap: Failure?)] = files.map { ($0, nil) }
    var (before, rounds) = (Int.max, 0)
    while !waiting.isEmpty, waiting.count < before, rounds < Self.mostRounds {
      (before, rounds) = (waiting.count, rounds + 1)
      waiting = try waiting.compactMap { file, _ in
        try take(file, unopened: unopened, body).map { (file, $0) }
      }
    }
    // A file that still waits is not read again. Its last failure says why it waits.
    for (file, gap) in waiting where isWelcome(file) {
      if let gap { refuse(file, gap) }
    }
  }

  /// Imports a file. Returns the failure if the file waits for another file. nil if it does not wait.
  private mutating func take(
    _ file: InspectedFile, unopened: (_ file: String) throws -> UnopenedFile, _ body: (_ file: String) throws -> Told
  ) throws -> Failure? {
    if let isTaken = file.digest.flatMap({ known[$0] }) {
      if isTaken { takenCopies.append(file.path) } else { leftAlone += 1 }
      return nil
    }
    guard isWelcome(file) else {
      leftAlone += 1
      if refusedEarlier.contains(file.sender) { isAnyUnread = true }
      return nil
    }
    if file.isForOtherRecipient {
      try leave(file, unopened(file.path))
      return nil
    }
    do { note(file, try body(file.path)) } catch let error as Refusal where error.code == .gap && !isAlone {
      return Failure(error)
    } catch let error as Refusal where error.isForElsewhere && !isAlone {
      // A stick may also hold bundles for other replicas.
      leave(file, error.message)
    } catch let error as Quarantine.RefusedEarlier {
      refuse(file, error)
    } catch {
      let failure = Failure(Self.helped(error))
      let isOfFile = !isAlone && failure.code == .failed && !(error is WorkspaceError)
      guard failure.code == .refused || isOfFile else { throw Self.helped(error) }
      refuse(file, failure)
    }
    return nil
  }

  private mutating func note(_ file: InspectedFile, _ told: Told) {
    results.append((file.path, .told(told)))
    if let digest = file.digest { known[digest] = told.isTaken }
  }

  private func isWelcome(_ file: InspectedFile) -> Bool { refused[file.sender, default: 0] < mostRefused }

  /// Leaves a file in its place, because no key here opens it. This is a failure only if a person may have to act.
  private mutating func leave(_ file: InspectedFile, _ judgement: UnopenedFile) {
    switch judgement {
    case .unneeded:
      leave(
        file,
        """
        It is encrypted for another recipient, such as an office with the same names. If it is for this office, its \
        sender must make it again.
        """)
    case .ofReplacedKey:
      leave(file, "It is encrypted for a lost key that this hub has replaced, and the hub does not need it.")
    case .mayBeForNewerKey(let refusal): refuse(file, Failure(refusal))
    }
  }

  /// Leaves a file in its place. This is no failure.
  private mutating func leave(_ file: InspectedFile, _ why: String) {
    note(file, Told(text: "\(file.path): left alone. \(why)\n", json: ["verdict": "left"], isTaken: false))
    refused[file.sender, default: 0] += 1
  }

  /// Reports a file that was refused earlier. This is no failure, so a sync with such a stick can end well. Another
  /// file with the same bundle may be sound, so it is imported.
  private mutating func refuse(_ file: InspectedFile, _ earlier: Quarantine.RefusedEarlier) {
    let told = Told(
      text: "Refused earlier (\(earlier.day)): \(Paths.name(of: file.path)). \(earlier.message)\n",
      json: ["verdict": "refused-earlier", "refused_at": .time(earlier.at), "error": Failure(earlier).json],
      isTaken: false)
    results.append((file.path, .told(told)))
    refused[file.sender, default: 0] += 1
    refusedEarlier.insert(file.sender)
  }

  private mutating func refuse(_ file: InspectedFile, _ failure: Failure) {
    results.append((file.path, .failed(failure)))
    refused[file.sender, default: 0] += 1
  }

  /// Adds a hint, if a person named a folder. A person who names a stick's folder means the files on the stick.
  private static func helped(_ error: any Error) -> any Error {
    guard case PlatformError.isADirectory(let path) = error else { return error }
    return WorkspaceError(
      .isADirectory, "\(path) is a folder, and no bundle.",
      hint: "A stick's folder: sync in place of import. Or name the files in it: \(path)/*.satchel")
  }

  /// The files that need not be carried any more.
  var taken: [String] {
    takenCopies
      + results.compactMap { file, outcome in if case .told(let told) = outcome, told.isTaken { file } else { nil } }
  }

  var answer: Answer {
    var answer = Answer("", [:])
    var documents: [JSONValue] = []
    for (file, outcome) in results {
      switch outcome {
      case .told(let told):
        answer.text += told.text
        documents.append(.object([.init(name: "file", value: .string(file))] + (told.json.objectValue ?? [])))
      case .failed(let failure):
        answer.warnings += "\(file): \(failure.text)"
        documents.append(["file": .string(file), "verdict": "refused", "error": failure.json])
        if failure.code == .refused || answer.code == .done {
          answer.code = failure.code == .refused ? .refused : .failed
        }
      }
    }
    answer.members = [.init(name: "bundles", value: .array(documents))]
    // A person may wait for a file that was not imported, so the exit code shows it.
    if isAnyUnread, answer.code == .done { answer.code = .refused }
    if let stopped {
      answer.warnings += stopped.text
      answer.members.append(.init(name: "error", value: stopped.json))
      if answer.code != .refused { answer.code = .partial }
    }
    return answer
  }
}

extension Refusal {
  /// Whether the bundle is for another replica. This is not an error.
  fileprivate var isForElsewhere: Bool { reason == "not-for-us" || reason == "wrong-kind" }
}
