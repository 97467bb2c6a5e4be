import SatchelBundle
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// A sound bundle that the database did not accept. `status` shows it until an import has succeeded.
public struct FailedImport: Sendable {
  /// The bundle's name.
  public let file: String
  public let message: String
  public let hint: String?
  /// Milliseconds since 1970.
  public let at: Int64

  private static func path(_ folder: WorkspaceFolder) -> String { folder.path("bundles/failed-import.json") }

  /// Runs an import. Records the database's error, and forgets it when an import has succeeded.
  public static func noting<T>(
    _ file: String, _ folder: WorkspaceFolder, _ platform: Platform, _ ending: Ending, _ body: () throws -> T
  ) throws -> T {
    do {
      let result = try body()
      if ending == .keep { try platform.files.removeIfThere(path(folder)) }
      return result
    } catch {
      guard ending == .keep, let words = wordsToKeep(of: error) else { throw error }
      let failure = FailedImport(
        file: Paths.name(of: file), message: words.message, hint: words.hint, at: platform.clock.milliseconds())
      try platform.files.replace(path(folder), mode: 0o644, contents: failure.json.prettyBytes)
      throw error
    }
  }

  /// Refusals are shown by the quarantine. Errors of the machine or of another program may be over by the next command.
  private static func wordsToKeep(of error: any Error) -> (any ExplainedError)? {
    if let error = error as? SQLiteError, error.isOfTheMachine { return nil }
    if error is Refusal || error is BundleError || error is PlatformError || error is WorkspaceError { return nil }
    return error as? any ExplainedError
  }

  /// The failure of the last import; nil: it succeeded.
  public static func last(_ folder: WorkspaceFolder, _ files: any FileSystem) throws -> FailedImport? {
    guard let document = try folder.document(at: path(folder), files),
      let file = document["file"]?.stringValue, let message = document["message"]?.stringValue,
      case .integer(let at)? = document["at"]
    else { return nil }
    return FailedImport(file: file, message: message, hint: document["hint"]?.stringValue, at: at)
  }

  private var json: JSONValue {
    [
      "file": .string(file), "message": .string(message), "hint": hint.map { .string($0) } ?? .null, "at": .integer(at),
    ]
  }

  /// The text that `status` shows.
  public var words: String { ["\(file): \(message)", hint].compactMap(\.self).joined(separator: " ") }
}
