import SatchelBundle
import SatchelDataset
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A person's decision about a bundle that deletes or changes very many rows.
public enum BrakeDecision: Sendable {
  /// No person has decided. The dataset's limits apply.
  case none
  /// No person has decided. The person decides together with the choice between two histories of a device.
  case withHistory
  /// The bundle is merged, whatever it deletes or changes.
  case accept
  /// The bundle is merged, but none of its changes is accepted. Each change becomes a conflict.
  case reject
}

/// Compares the changes that the merge of a bundle made with the dataset's limits. The merge's transaction is still
/// open.
struct BrakeCheck {
  let store: HubStore
  /// The user who made the changes.
  let user: String
  let held: HeldAtBase
  /// The cursor of the hub before the merge.
  let start: Cursor
  let bundle: Manifest
  let decision: BrakeDecision

  /// Throws a `Refusal` if the merge deleted or changed more rows of a table than the limits allow. The caller then
  /// rolls the transaction back.
  func run(_ tally: RowTally) throws {
    var words: [String] = []
    for place in try suspicious(tally) {
      let (deleted, changed) = try store.countDeletedAndChanged(in: place, after: start)
      let table = store.tables[place]
      // `known` is the number of rows that the device had from the hub. If that number is unknown, all rows of the
      // table count.
      let known = try held.count(in: place) ?? table.count(in: store.database) + deleted
      let all = max(known, deleted, changed)
      let brake = table.rules.brake
      if brake.isBeyond(deleted, of: all, percent: brake.deletePercent) {
        words.append("deletes \(deleted) of the \(all) rows of \(table.name)")
      }
      if brake.isBeyond(changed, of: all, percent: brake.changePercent) {
        words.append("changes \(changed) of the \(all) rows of \(table.name)")
      }
    }
    if words.isEmpty { return }
    throw Refusal(
      .brake, "It \(words.joined(separator: ", and ")) that \(user) sees. A person must look at it first.",
      hint: "Ask \(user) whether that is meant. \(wayOut)", keeping: decision == .withHistory ? .unnoted : .waiting)
  }

  private var wayOut: String {
    let (sender, number) = (bundle.from.name, bundle.wholeNumber)
    return decision == .withHistory
      ? """
      It is bundle \(number). If it is meant: satchel-hub device fork \(sender) --restored --accept. If it is a \
      mistake: satchel-hub device fork \(sender) --restored --reject
      """
      : """
      If it is: satchel-hub import --accept \(sender)/\(number). If it is a mistake: satchel-hub import --reject \
      \(sender)/\(number)
      """
  }

  /// Returns the tables in which the merge deleted or changed more rows than `brake.rows`. Only for these tables, the
  /// percentage must be checked too.
  private func suspicious(_ tally: RowTally) throws -> [Int] {
    tally.tables.compactMap { table, counts in
      guard let place = store.place(of: table) else { return nil }
      let brake = store.tables[place].rules.brake
      return !brake.isOff && Int64(max(counts.deleted, counts.updated)) > brake.rows ? place : nil
    }
  }
}
