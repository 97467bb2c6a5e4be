import SatchelBundle
import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

/// Imports several files: each by itself, so that a bad one holds up no other, and again those that only waited for
/// another one.
struct ImportRounds {
  /// What is told of a file that was no failure.
  struct Told {
    let text: String
    let json: JSONValue
    /// Whether the file needs no carrying any more.
    let isTaken: Bool
  }

  enum Outcome {
    case told(Told)
    case failed(Failure)
  }

  private(set) var results: [(file: String, outcome: Outcome)] = []

  /// - Parameter body: imports one file and says what it did. What is wrong with the workspace, and so with no file,
  ///   ends everything.
  init(_ files: [String], _ body: (_ file: String) throws -> Told) throws {
    if files.count > 1, files.contains(Streams.word) { throw UsageError("- is read once: it stands alone") }
    var waiting = files
    var before = Int.max
    while !waiting.isEmpty, waiting.count < before {
      before = waiting.count
      var gaps: [String] = []
      for file in waiting {
        do {
          results.append((file, .told(try body(file))))
        } catch let error as Refusal where error.reason == "gap" && files.count > 1 {
          gaps.append(file)
        } catch let error as Refusal where error.isForElsewhere && files.count > 1 {
          // A courier's stick holds what is for others too.
          let words = "\(visible(file)): left alone. \(error.message)\n"
          results.append((file, .told(Told(text: words, json: ["verdict": "left"], isTaken: false))))
        } catch {
          let failure = Failure(Self.helped(error))
          let isOfFile = files.count > 1 && failure.code == .failed && !(error is WorkspaceError)
          guard failure.code == .refused || isOfFile else { throw Self.helped(error) }
          results.append((file, .failed(failure)))
        }
      }
      waiting = gaps
    }
    for file in waiting {
      do { results.append((file, .told(try body(file)))) } catch { results.append((file, .failed(Failure(error)))) }
    }
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
    results.compactMap { file, outcome in if case .told(let told) = outcome, told.isTaken { file } else { nil } }
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
