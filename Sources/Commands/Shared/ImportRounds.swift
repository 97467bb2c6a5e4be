import SatchelBundle
import SatchelCrypto
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Imports several files: each by itself, so that a bad one holds up no other, and again those that only waited for
/// another one.
struct ImportRounds {
  /// What is told of a file that was no failure.
  struct Told {
    let text: TerminalText
    let json: JSONValue
    /// Whether the file needs no carrying any more.
    let isTaken: Bool
  }

  enum Outcome {
    case told(Told)
    case failed(Failure)
  }

  private(set) var results: [(file: String, outcome: Outcome)] = []
  /// Files that were not imported, because too many files of the same sender were refused.
  private(set) var leftAlone = 0

  private let isAlone: Bool
  private let mostRefused: Int
  /// How many files were refused, by whose they are.
  private var refused: [ReplicaID?: Int] = [:]
  /// The outcome for bundles: whether they need no carrying any more. Other files with the same bundle share it.
  private var known: [Digest: Bool] = [:]
  private var takenCopies: [String] = []

  /// So many files of one sender are refused at most when a stick is synced, and so many that prove no sender.
  static let mostRefusedOfStick = 100
  /// So often those are tried again that wait for others. A device's bundles need one round, in their order.
  private static let mostRounds = 10

  /// - Parameter body: imports one file and says what it did. What is wrong with the workspace, and so with no file,
  ///   ends everything.
  init(_ files: [String], _ body: (_ file: String) throws -> Told) throws {
    if files.count > 1, files.contains(Streams.word) { throw UsageError("- is read once: it stands alone") }
    try self.init(files.map { SightedFile($0) }, mostRefused: .max, body)
  }

  /// - Parameter mostRefused: when so many files of one sender were refused, its others are left alone.
  init(_ files: [SightedFile], mostRefused: Int, _ body: (_ file: String) throws -> Told) throws {
    self.mostRefused = mostRefused
    isAlone = files.count < 2
    var (waiting, before, rounds) = (files, Int.max, 0)
    while !waiting.isEmpty, waiting.count < before, rounds < Self.mostRounds {
      (before, rounds) = (waiting.count, rounds + 1)
      waiting = try waiting.filter { try !take($0, body) }
    }
    for file in waiting where isWelcome(file) {
      do { results.append((file.path, .told(try body(file.path)))) } catch { refuse(file, Failure(error)) }
    }
  }

  /// Imports a file. Returns false if it waits for another one.
  private mutating func take(_ file: SightedFile, _ body: (_ file: String) throws -> Told) throws -> Bool {
    if let isTaken = file.digest.flatMap({ known[$0] }) {
      if isTaken { takenCopies.append(file.path) } else { leftAlone += 1 }
      return true
    }
    guard isWelcome(file) else {
      leftAlone += 1
      return true
    }
    do { note(file, try body(file.path)) } catch let error as Refusal where error.reason == "gap" && !isAlone {
      return false
    } catch let error as Refusal where error.isForElsewhere && !isAlone {
      // A courier's stick holds what is for others too.
      let words: TerminalText = "\(file.path): left alone. \(error.message)\n"
      note(file, Told(text: words, json: ["verdict": "left"], isTaken: false))
      refused[file.sender, default: 0] += 1
    } catch {
      let failure = Failure(Self.helped(error))
      let isOfFile = !isAlone && failure.code == .failed && !(error is WorkspaceError)
      guard failure.code == .refused || isOfFile else { throw Self.helped(error) }
      refuse(file, failure)
    }
    return true
  }

  private mutating func note(_ file: SightedFile, _ told: Told) {
    results.append((file.path, .told(told)))
    if let digest = file.digest { known[digest] = told.isTaken }
  }

  private func isWelcome(_ file: SightedFile) -> Bool { refused[file.sender, default: 0] < mostRefused }

  private mutating func refuse(_ file: SightedFile, _ failure: Failure) {
    results.append((file.path, .failed(failure)))
    refused[file.sender, default: 0] += 1
  }

  /// Who names a stick's folder means what is on the stick.
  private static func helped(_ error: any Error) -> any Error {
    guard case PlatformError.isADirectory(let path) = error else { return error }
    return WorkspaceError(
      "is-a-directory", "\(path) is a folder, and no bundle.",
      hint: "A stick's folder: sync in place of import. Or name the files in it: \(path)/*.satchel")
  }

  /// The files that need no carrying any more.
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
    return answer
  }
}

extension Refusal {
  /// Whether the bundle is none of ours, and nothing is wrong with that.
  fileprivate var isForElsewhere: Bool { reason == "not-for-us" || reason == "wrong-kind" }
}
