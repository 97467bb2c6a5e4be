import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of `audit`.
public struct AuditReport: Sendable {
  /// The number of archived bundles that are whole, correctly signed, and agree with their device's history.
  public var verified = 0
  public var devices = 0
  /// The number of operators' acts that are whole, correctly signed, and in one chain.
  public var acts = 0
  public var findings: [Finding] = []
}

extension HubWorkspace {
  /// Verifies every bundle of the archive again: its signature, its digests, and its place in its device's known
  /// history. Also checks that the ledger and the log agree with the archive. Changes nothing.
  public func audit() throws -> AuditReport {
    try folder.locked(platform, .dryRun) { try audit(examined()) }
  }

  /// Does the work of `audit()` for a caller that holds the workspace's lock.
  func audit(_ store: HubStore) throws -> AuditReport {
    var report = AuditReport()
    var seen: Set<BundleID> = []
    var devices: Set<ReplicaID> = []
    // A merged bundle may still have its pending name. It counts as archived too.
    let names = try platform.files.list(folder.archive).filter { $0.hasSuffix(".satchel") }
    let pending = try HubArchive(folder, platform.files).pending().filter { try store.archivedName(of: $0) != nil }
    for name in names + pending.map({ Paths.name(of: $0.path) }) {
      do {
        let bundle = try reader.read(
          Paths.join(folder.archive, name), trust: .keys(trustedKeys(store)), staging: folder.inbox)
        try bundle.eachChange { _ in }
        guard case .changes(let changes) = bundle.manifest.body else { continue }
        seen.insert(bundle.manifest.bundle)
        devices.insert(bundle.manifest.from.id)
        if let problem = try store.contradiction(to: bundle.manifest, changes, bundle.digest) {
          report.findings.append(Finding(.audit, "\(name): \(problem.words)", hint: problem.hint))
        } else {
          report.verified += 1
        }
      } catch let error as BundleError {
        report.findings.append(
          Finding(
            .audit, "\(name): \(error.message)",
            hint: "The device may have it in bundles/sent: satchel-hub import FILE puts it back."))
      }
    }
    report.devices = devices.count
    report.findings += try store.unarchived(seen)
    report.findings += try lostFindings(store)
    let acts = try checkedActs(store)
    report.acts = acts.count
    report.findings += acts.findings
    return report
  }
}

/// A contradiction between an archived bundle and the hub's records, with a hint for the operator.
private struct Contradiction {
  let words: String
  let hint: String

  init(_ words: String, hint: String = "Keep the file, and find out what changed it or the records.") {
    self.words = words
    self.hint = hint
  }
}

extension HubStore {
  /// Returns the contradiction between an archived bundle and the ledger or the chain. nil if they agree.
  fileprivate func contradiction(
    to manifest: Manifest, _ changes: Manifest.Changes, _ digest: Digest
  ) throws -> Contradiction? {
    if let found = try contradiction(manifest, changes, digest),
      try partedHistory(of: manifest.from.id, with: found, in: changes.links(with: digest)) == nil
    {
      return Contradiction(found.words(of: manifest.from.name))
    }
    let noted = try Ledger.digests(of: manifest.bundle, in: database)
    if noted.isEmpty { return try unknown(manifest, changes) }
    return noted.contains(digest.hexadecimal) ? nil : Contradiction("the ledger has another digest for it.")
  }

  /// Returns the contradiction of a bundle that the ledger does not contain. An older copy may have replaced the
  /// database, and such a copy lacks later bundles. After a new epoch began, such a bundle is no contradiction, because
  /// its device delivers it again.
  private func unknown(_ manifest: Manifest, _ changes: Manifest.Changes) throws -> Contradiction? {
    guard let device = try device(manifest.from.id), changes.sequence > device.merged else {
      return Contradiction(
        "the ledger does not contain it.",
        hint:
          """
          satchel-hub import FILE records it again, with a copy of this file. If the ledger lacks more than that, \
          bring the hub back from its last backup: satchel-hub restore
          """)
    }
    if try isFormer(changes.epoch) { return nil }
    return Contradiction(
      "it is newer than this hub's database: the database was put back from a copy.",
      hint: "Keep the file. If no other copy of this hub is in use, run: satchel-hub restore --in-place")
  }

  /// Returns findings about bundles that the ledger names and the archive lacks, or that the log names and the ledger
  /// lacks.
  fileprivate func unarchived(_ seen: Set<BundleID>) throws -> [Finding] {
    var findings: [Finding] = []
    for export in try Ledger.exports(in: database) where !seen.contains(export.bundle) {
      findings.append(
        Finding(
          .audit,
          """
          The bundle \(export.number ?? 0) of \(export.sender ?? "?") was imported, but is not in \
          bundles/archive.
          """,
          hint: "The device may have it in bundles/sent: satchel-hub import FILE puts it back."))
    }
    for unknown in try unknownBundles() {
      findings.append(
        Finding(
          .audit,
          """
          \(unknown.changes) changes of the log came with a bundle \(unknown.bundle) that the ledger does not contain.
          """,
          hint:
            """
            A person or program has written into satchel_ tables. Keep a copy, and find out who did it. The bundle may \
            be in bundles/archive, or in the device's bundles/sent: satchel-hub import FILE records it again.
            """))
    }
    return findings
  }
}
