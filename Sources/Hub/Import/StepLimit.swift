import SatchelJSON
import SatchelValues
import SatchelWorkspace

/// Refuses a bundle with very many changes of one row.
///
/// A device makes at most one change of a row between two exports. An honest device reaches the limit only after as
/// many exports without an acknowledgement. The merge of such a bundle would take long, and might add a conflict for
/// each change.
///
/// One count for each row would need much memory. So all rows share a fixed number of counts. A row gets its own count
/// only after its shared count has reached the limit.
struct StepLimit {
  /// Every row may have this number of changes. A bundle with more than twice this number for one row is always
  /// refused.
  let most: Int
  private var shared = [Int](repeating: 0, count: 1 << 12)
  private var counts: [StepMerger.RowReference: Int] = [:]

  /// A device that exports every hour for a year without an acknowledgement stays below this limit.
  static let usual = 10_000

  init(most: Int) { self.most = most }

  /// Counts a change. Throws a `Refusal` if there are too many changes of its row.
  mutating func count(_ step: Step, in place: Int) throws {
    let row = StepMerger.RowReference(place: place, key: step.key)
    let position = Int(UInt(bitPattern: row.hashValue) % UInt(shared.count))
    shared[position] += 1
    if shared[position] <= most { return }
    let count = counts[row, default: 0] + 1
    counts[row] = count
    if count > most { throw refusal(of: step) }
  }

  private func refusal(of step: Step) -> Refusal {
    Refusal(
      .tooLarge,
      """
      The bundle has more than \(most) changes of one row: \(step.table) \
      \(String(decoding: canonicalKey(step.key), as: UTF8.self)).
      """,
      hint: """
        If the device made as many exports, import one of its older files first: they are in bundles/sent there. The \
        newer file then counts only the later changes. If it did not, another person may have its key: satchel-hub \
        device revoke NAME
        """, keeping: .quarantine)
  }
}
