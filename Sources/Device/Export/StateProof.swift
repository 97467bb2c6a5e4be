import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelJSON
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Digests of this device's rows, which the hub compares with its own. They are digests of the rows that the hub must
/// expect: the device's present emission, with the device's acknowledged changes.
///
/// So a row with pending changes counts as its oldest pre-image, which is the hub's last version. First, all rows are
/// read once and added to the sums. Then each row with pending changes is replaced in the sums by that pre-image.
extension DeviceSession {
  /// Whether an export must carry the digests.
  func isProofDue(in sequence: SequenceNumber, _ wish: ProofOption) -> Bool {
    canProve && wish != .never
      && (wish == .now || isProofAwaited || dataset.prove.applies(to: sequence, after: state.lastProof))
  }

  /// Whether the digests were requested, so that an export is made for them alone.
  func isProofWanted(_ wish: ProofOption) -> Bool { (wish == .now || wish != .never && isProofAwaited) && canProve }

  private var isProofAwaited: Bool { state.mustProve || !state.compare.isEmpty }

  /// Whether the hub can read the digests and compute them itself. The hub cannot compute them while sealed or resent
  /// exports are on their way: no emission contains their changes yet.
  private var canProve: Bool {
    state.hubUnderstands.contains(.state) && state.base == state.acknowledged && state.restored == nil
  }

  /// Returns the digests of all tables of the dataset, and the answers to the hub's questions. Reads every row. The
  /// caller holds the transaction and has logged the local writes.
  func stateEntry() throws -> StateEntry {
    var tables: [StateEntry.Table] = []
    var answers: [StateEntry.Answer] = []
    var room = AnswerRoom()
    for table in self.tables {
      let asked = state.compare.first { $0.table == table.name }?.sums ?? []
      let tally = try tally(of: table, asked: asked)
      tables.append(tally.table)
      if let answer = room.answer(tally) { answers.append(answer) }
    }
    return StateEntry(tables: tables, answers: answers)
  }

  private func tally(of table: TrackedTable, asked: [Int]) throws -> StateTally {
    var tally = StateTallyMaker(table.schema, asked: asked)
    try database.each(table.namedRowsSQL) { tally.add(rowOf: $0) }
    // Rows that wait also have pre-images, although their exports are acknowledged: see `WaitingRows`.
    try PreImageStore.each(table, since: .zero, in: database) { _, images, current in
      if let current { tally.remove(current) }
      if let known = images.first?.hubRow { tally.add(known) }
    }
    return tally.finish()
  }
}

/// The space for answers in one bundle.
private struct AnswerRoom {
  private var rows = StateEntry.mostRows
  /// Answers may use half of the entry's size. The rest of the entry has the other half.
  private var bytes = StateEntry.mostBytes / 2

  /// Returns the answer for as many of the requested sums as fit; nil: no sum fits. The hub requests the others again.
  mutating func answer(_ tally: StateTally) -> StateEntry.Answer? {
    var sums: [Int] = []
    var found: [(key: RowKey, digest: Digest256)] = []
    for (sum, rows) in tally.rows.sorted(by: { $0.key < $1.key }) {
      let size = rows.keys.reduce(0) { $0 + Self.bytes(of: $1) }
      guard rows.count <= self.rows, size <= bytes else { continue }
      (self.rows, bytes) = (self.rows - rows.count, bytes - size)
      sums.append(sum)
      found += rows.map { ($0.key, $0.value) }
    }
    if sums.isEmpty { return nil }
    let rows = found.sorted { $0.key.isBeforeInSQL($1.key) }.map { StateEntry.KeyedDigest($0.key, $0.digest) }
    return StateEntry.Answer(StateEntry.Question(tally.table.name, sums: sums), rows: rows)
  }

  /// The largest size of a key and its digest in JSON. Each byte of the key may need an escape; the digest is
  /// hexadecimal.
  private static func bytes(of key: RowKey) -> Int { 2 * canonicalKey(key).count + 100 }
}

/// When an export carries the digests of the rows. `never` is for exports when rows may be unreadable, or when they
/// will change soon.
enum ProofOption { case asTheDatasetSays, now, never }

extension DeviceWorkspace {
  /// Makes the next export carry digests of all rows, if the hub can read them. Does nothing if there is no database
  /// yet.
  public func requestProof() throws {
    try locked {
      guard runMode == .commit, case .there = try databaseCondition() else { return }
      let session = try examined()
      guard session.state.hubUnderstands.contains(.state), !session.state.mustProve else { return }
      session.state.mustProve = true
      try session.state.save(in: session.database)
    }
  }
}
