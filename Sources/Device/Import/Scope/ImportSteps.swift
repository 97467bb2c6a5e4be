/// The checks of a hub's bundle at a device, in their order. Nothing of the bundle is written before all have passed.
enum ImportCheck: String, CaseIterable {
  /// Whether the bundle continues what came here. If it came before, the import ends here.
  case history
  case sender, time
  /// Whether a restored hub lacks exports of this device. If they are delivered again, the import ends here.
  case lostExports
  case version, revocations
}

/// The writes in the transaction of an import, in this order. All of them are committed, or none.
enum ImportWrite: String, CaseIterable {
  /// Local writes are logged, and changes that the hub has are forgotten.
  case acknowledgement
  case ownRows, primaryKeys, strandedRows, snapshot, lines, unsentRows, waitingRows
  case keyBlocks, conflicts, dataset, history, rights, state, clock, ledger, exportedRows, files
}

/// The steps after the commit of an import, in this order. After a crash, the next import or `sync` does the rest.
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
  /// Begins a step of an import.
  func reach<S: RawRepresentable<String>>(_ step: S) throws { try workspace.beforeStep("\(S.self).\(step.rawValue)") }
}
