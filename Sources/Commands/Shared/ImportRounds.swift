import SatchelBundle
import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

/// Imports several files: each by itself, so that a bad one holds up no other, and again those that only waited for another one.
enum ImportRounds {
  struct Result {
    let file: String
    let text: String
    let json: JSONValue
    let failure: Failure?
  }

  /// - Parameter body: imports one file and says in words and JSON what it did. What is no refusal ends everything.
  static func run(_ files: [String], _ body: (_ file: String) throws -> (String, JSONValue)) throws -> Answer {
    if files.count > 1, files.contains(Streams.word) { throw UsageError("- is read once: it stands alone") }
    var results: [Result] = []
    var waiting = files
    var before = Int.max
    while !waiting.isEmpty, waiting.count < before {
      before = waiting.count
      var gaps: [String] = []
      for file in waiting {
        do {
          let (text, json) = try body(file)
          results.append(Result(file: file, text: text, json: json, failure: nil))
        } catch let error as Refusal where error.reason == "gap" && files.count > 1 {
          gaps.append(file)
        } catch let error as Refusal where error.isForElsewhere && files.count > 1 {
          // A courier's stick holds what is for others too.
          let words = "\(visible(file)): left alone. \(error.message)\n"
          results.append(Result(file: file, text: words, json: ["verdict": "left"], failure: nil))
        } catch {
          let failure = Failure(helped(error))
          guard failure.code == .refused || files.count > 1 && failure.code == .failed else { throw helped(error) }
          results.append(Result(file: file, text: "", json: .null, failure: failure))
        }
      }
      waiting = gaps
    }
    for file in waiting {
      do {
        let (text, json) = try body(file)
        results.append(Result(file: file, text: text, json: json, failure: nil))
      } catch { results.append(Result(file: file, text: "", json: .null, failure: Failure(error))) }
    }
    return answer(results)
  }

  /// Who names a stick's folder means what is on the stick.
  private static func helped(_ error: any Error) -> any Error {
    guard case PlatformError.isADirectory(let path) = error else { return error }
    return WorkspaceError(
      "is-a-directory", "\(path) is a folder, and no bundle.",
      hint: "A stick's folder: sync in place of import. Or name the files in it: \(path)/*.satchel")
  }

  private static func answer(_ results: [Result]) -> Answer {
    let text = results.filter { $0.failure == nil }.map(\.text).joined()
    let warnings = results.compactMap { result in result.failure.map { "\(result.file): \($0.text)" } }.joined()
    let documents = results.map { result -> JSONValue in
      guard let failure = result.failure else {
        return .object([.init(name: "file", value: .string(result.file))] + (result.json.objectValue ?? []))
      }
      return ["file": .string(result.file), "verdict": "refused", "error": failure.json]
    }
    let failures = results.compactMap(\.failure)
    let code = failures.contains { $0.code == .refused } ? ExitCode.refused : failures.isEmpty ? .done : .failed
    return Answer(text, ["bundles": .array(documents)], code: code, warnings: warnings)
  }
}

extension Refusal {
  /// Whether the bundle is none of ours, and nothing is wrong with that.
  fileprivate var isForElsewhere: Bool { reason == "not-for-us" || reason == "wrong-kind" }
}
