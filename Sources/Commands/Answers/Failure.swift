import SatchelBundle
import SatchelCrypto
import SatchelDataset
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// An error, ready for a person or a program.
struct Failure {
  let reason: Reason
  let message: String
  let hint: String?
  let code: ExitCode

  /// Turns the errors of all modules into words and exit codes. No other place does this.
  init(_ error: any Error) {
    switch error {
    case BundleError.archive(let words):
      self.init(
        reason: .noBundle, message: BundleError.archive(words).message, hint: "Is there room on the disk?",
        code: .failed)
    case BundleError.rowTooLarge(let row, let limit): self.init(BundleError.rowTooLarge(row, limit: limit), .failed)
    case let error as BundleError: self.init(error, error.code == .tooManyVolumes ? .usage : .refused)
    case let error as Refusal: self.init(error, .refused)
    case let error as PlatformError:
      switch error {
      case .locked:
        self.init(
          reason: .busy, message: "Another command works on this workspace at the moment.",
          hint: "Try again when it is done.",
          code: .busy)
      case .missing(let path):
        let hint = PlatformError.hintOfName(in: path) ?? "Check the path. After -C DIR, paths are seen from DIR."
        self.init(reason: error.code, message: error.message, hint: hint, code: .failed)
      default: self.init(error, .failed)
      }
    case let error as SQLiteError: self.init(error)
    case let error as any ExplainedError: self.init(error, .failed)
    case let error as UsageError:
      self.init(reason: .usage, message: error.message, hint: error.hint, code: .usage)
    default: self.init(reason: .other, message: "\(error)", hint: nil, code: .failed)
    }
  }

  private init(_ error: any ExplainedError, _ code: ExitCode) {
    self.init(reason: error.code, message: error.message, hint: error.hint, code: code)
  }

  private init(_ error: SQLiteError) {
    switch error.kind {
    case .busy:
      self.init(
        reason: .busy, message: "Another program is writing to the database, and did not finish in time.",
        hint:
          """
          Try again when it is done. An open edit session in QGIS or another GIS can hold the database: save or end \
          it first.
          """,
        code: .busy)
    case .notADatabase:
      self.init(
        reason: .notADatabase, message: "The file is not an SQLite database, or it is encrypted.",
        hint: "Name the SQLite file that your app writes.", code: .failed)
    case .full:
      self.init(
        reason: .noSpace, message: "There is no room left for the database.", hint: "Make room, then try again.",
        code: .failed)
    case .corrupt:
      self.init(
        reason: .corrupt, message: "The database is damaged: \(error.message).",
        hint: "Keep the file. Next: run doctor.",
        code: .failed)
    case .readOnly:
      self.init(
        reason: .readOnly, message: "The database cannot be written.",
        hint:
          "Check who owns its file and folder, and that the medium is not read-only. Then run the same command again.",
        code: .failed)
    case .cannotOpen:
      self.init(
        reason: .cannotOpen,
        message: "The database, or a file that belongs to it, cannot be opened: \(error.message).",
        hint:
          """
          Check the rights on its folder, and that not too many files are open (ulimit -n). Then run the same \
          command again.
          """,
        code: .failed)
    case .inputOutput:
      self.init(
        reason: .systemError, message: "The disk failed under the database: \(error.message).",
        hint:
          """
          The medium may be failing. Run the same command again. If it fails again, copy the workspace to another \
          disk.
          """,
        code: .failed)
    default:
      self.init(reason: .database, message: "The database said: \(error.message).", hint: nil, code: .failed)
    }
  }

  init(reason: Reason, message: String, hint: String?, code: ExitCode) {
    self.reason = reason
    self.message = message
    self.hint = hint
    self.code = code
  }

  /// Whether an emission failed because of its device, or because of a row of the device's user. If so, the emissions
  /// for other devices may succeed.
  static func concernsOneDevice(_ error: any Error) -> Bool {
    if case BundleError.rowTooLarge = error { return true }
    return error is WorkspaceError
  }

  /// The failure in one or two lines. It may contain names of files and rows from anyone, so `TerminalText` makes them
  /// safe.
  var text: TerminalText { "\(message)\n" + (hint.map { "\($0)\n" } ?? "") }

  var json: JSONValue {
    ["reason": .string(reason.rawValue), "message": .string(message), "hint": hint.map { .string($0) } ?? .null]
  }
}

/// Prints the failure, and returns the exit code.
func report(_ failure: CommandFailure, to console: any Console) -> ExitCode {
  let told = Failure(failure.error)
  if failure.json {
    let document: JSONValue = [
      "ok": false, "command": .string(failure.command.joined(separator: " ")), "error": told.json,
    ]
    console.show(TerminalText(document: document))
  } else if let usage = failure.error as? UsageError {
    console.warn(usage.text(tool: failure.tool))
  } else {
    console.warn("\(failure.tool): \(told.text)")
  }
  return told.code
}
