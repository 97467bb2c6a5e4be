import SatchelBundle
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// A report about an import: the bundle that came, and the verdict on it.
public protocol ImportOutcome {
  var manifest: Manifest { get }
  var verdict: Verdict { get }
}

/// The file `bundles/failed-import.json`: the bundles whose import failed, at most one for each sender and kind.
/// `status` names each of them until that bundle or a newer bundle from its sender is taken.
public struct FailedImports {
  private let folder: WorkspaceFolder
  private let files: any FileSystem
  private let clock: any WallClock
  /// The id of this replica.
  private let own: ReplicaID
  private let runMode: RunMode

  /// The most failures in the file; the oldest are dropped first. `mostBytes` limits the file too.
  private static let most = 200
  private static let mostBytes = 1 << 20
  /// The most characters of a message and of a hint. The trigger of an app can cause a message of any length.
  private static let longestText = 1_000

  public init(_ folder: WorkspaceFolder, _ platform: Platform, at own: ReplicaID, _ runMode: RunMode = .commit) {
    (self.folder, files, clock, self.own, self.runMode) = (folder, platform.files, platform.clock, own, runMode)
  }

  private var path: String { folder.path("bundles/failed-import.json") }

  /// The failed bundles, the newest failure first.
  public func list() throws -> [FailedImport] {
    // A device that continues under a new name does not need the bundles for its former id.
    try stored().filter { $0.origin.map { $0.receiver == own } ?? true }
  }

  /// Runs an import. If it fails, records the failure, unless `status` shows it in another way. If it succeeds,
  /// removes the failures that the imported bundle makes unimportant.
  /// - Parameters:
  ///   - file: the path of the imported file.
  ///   - manifest: returns the verified manifest of the file; nil if the manifest cannot be verified.
  public func noting<Report: ImportOutcome>(
    _ file: String, manifest: () throws -> Manifest?, _ body: () throws -> Report
  ) throws -> Report {
    do {
      let report = try body()
      if runMode == .commit { try forget(after: report) }
      return report
    } catch {
      guard runMode == .commit, let words = Self.wordsToKeep(of: error) else { throw error }
      let origin = ((try? manifest()) ?? nil).map { FailedImport.Origin($0, at: own) }
      try note(
        FailedImport(
          file: Paths.name(of: file), origin: origin, code: words.code,
          message: words.message.shortened(to: Self.longestText),
          hint: words.hint?.shortened(to: Self.longestText), at: clock.milliseconds()))
      throw error
    }
  }

  /// The error to record; nil if it must not be recorded. The quarantine shows refused files, and `status` itself
  /// shows damage to the database. A fault of the machine or of another program may be over at the next command.
  private static func wordsToKeep(of error: any Error) -> (any ExplainedError)? {
    if let refusal = error as? Refusal { return refusal.keeping == .inPlace ? refusal : nil }
    if let error = error as? SQLiteError { return error.isOfTheMachine || error.isDamage ? nil : DatabaseFault(error) }
    if error is BundleError || error is Quarantine.RefusedEarlier { return nil }
    if error is PlatformError || error is WorkspaceError { return nil }
    return error as? any ExplainedError
  }

  /// Another error of SQLite. Each import of the bundle fails in the same way until a person changes the database.
  private struct DatabaseFault: ExplainedError {
    let message: String
    var code: Reason { .database }
    var hint: String? { nil }

    init(_ error: SQLiteError) { message = "The database said: \(error.message)." }
  }

  private func forget(after report: some ImportOutcome) throws {
    let known = try stored()
    let taken = FailedImport.Origin(report.manifest, at: own)
    let left = known.filter { !$0.isMadeUpFor(by: taken, report.verdict) }
    if left.count < known.count { try store(left) }
  }

  /// Records a failure. Only the newest failure of each sender and kind stays recorded.
  private func note(_ failure: FailedImport) throws {
    func isOfSender(_ other: FailedImport) -> Bool {
      other.origin?.sender == failure.origin?.sender && other.origin?.kind == failure.origin?.kind
    }
    try store([failure] + list().filter { !isOfSender($0) })
  }

  // MARK: the file

  private func stored() throws -> [FailedImport] {
    guard let document = try folder.document(at: path, files, mostBytes: Self.mostBytes) else { return [] }
    // An earlier release of Satchel wrote only the last failure, as one object.
    guard let all = document["failed"]?.arrayValue else { return [FailedImport(document)].compactMap(\.self) }
    return all.compactMap { FailedImport($0) }
  }

  private func store(_ failures: [FailedImport]) throws {
    if failures.isEmpty { return try files.removeIfThere(path) }
    var kept = failures.prefix(Self.most).map(\.json)
    var bytes = Self.document(kept)
    while bytes.count > Self.mostBytes, kept.count > 1 {
      kept.removeLast((kept.count + 1) / 2)
      bytes = Self.document(kept)
    }
    try files.replace(path, mode: 0o644, contents: bytes)
  }

  private static func document(_ failures: [JSONValue]) -> [UInt8] {
    JSONValue.object([.init(name: "failed", value: .array(failures))]).prettyBytes
  }
}
