/// The checks of a bundle from the hub, in order. The device writes nothing of the bundle before all checks have
/// passed.
enum ImportCheck: String, CaseIterable {
  /// Whether the bundle continues this device's history. If the bundle was imported before, the import ends here.
  case history
  case sender, time
  /// Whether a restored hub lacks exports of this device. If the device delivers them again, the import ends here.
  case lostExports
  case version, revocations
}

/// The writes in the transaction of an import, in this order. All of them are committed, or none of them.
enum ImportWrite: String, CaseIterable {
  /// Local writes are logged, and the pre-images of acknowledged changes are deleted.
  case acknowledgement
  case ownRows, primaryKeys, strandedRows, snapshot, lines, unsentRows, waitingRows
  case keyBlocks, conflicts, dataset, history, rights, state, clock, ledger, exportedRows, files
}

/// The steps after the commit of an import, in this order. After a crash, the next import or `sync` completes them.
enum ImportCompletion: String, CaseIterable {
  case wiping, unnamedFiles, signer, ownKey, sentExports, volumes, replacedBundles, broughtBundles, estrangement
  case stagedBundles, answer

  /// Whether the step changes files that an older database needs. If the database is a copy from a tablet, such steps
  /// wait until the copy is back on the tablet.
  var isForNewDatabase: Bool {
    switch self {
    case .unnamedFiles, .sentExports, .volumes, .replacedBundles, .broughtBundles, .stagedBundles, .answer: true
    case .wiping, .signer, .ownKey, .estrangement: false
    }
  }
}

extension DeviceSession {
  /// Begins a step of an import. A test may stop the import here.
  func reach<S: RawRepresentable<String>>(_ step: S) throws { try workspace.beforeStep("\(S.self).\(step.rawValue)") }
}
