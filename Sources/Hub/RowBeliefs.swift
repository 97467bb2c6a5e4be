import SatchelBundle
import SatchelValues

/// What a device may have of a row before it takes a line: the row as it was at each emission on which the device may
/// be.
///
/// A device that has something else was changed behind the back of capture, and keeps what it has as a conflict. The
/// digests tell nothing that the device was not sent: of an emission that did not hold the row, it is told that the row
/// is not there.
final class RowBeliefs {
  private let store: HubStore
  private let plan: EmissionPlan

  /// nil: the device does not understand them, or it may be on an emission of another version of the dataset.
  init?(_ store: HubStore, _ plan: EmissionPlan) {
    guard plan.device.understands.contains(.unseen), plan.emissions.allSatisfy({ $0.version == store.dataset.version }),
      plan.emissions.allSatisfy({ $0.cursor >= store.identity.logFrom }),
      plan.emissions.count <= Manifest.Scope.mostFollowed
    else { return nil }
    self.store = store
    self.plan = plan
  }

  /// The rows as the emissions left them; nil stands for a row that is not there.
  /// - Parameter now: the row as it is.
  func rows(of member: RowNumbers.Member, now: Row?, in place: Int) throws -> [Row?] {
    let holds = plan.held.map { $0[place].contains(member.number) }
    guard holds.contains(true) else { return [nil] }
    var rows: [Row?] = []
    var row = now
    var entries: [LogEntry] = []
    let oldest = plan.emissions.first?.cursor ?? .zero
    try store.eachChange(from: member.cursor, after: oldest) {
      entries.append($0)
      return .more
    }
    var turned = 0
    // From the newest emission back to the oldest one.
    for (emission, isHeld) in zip(plan.emissions, holds).reversed() {
      while turned < entries.count, entries[turned].cursor > emission.cursor {
        row = try store.row(before: entries[turned], row, in: place)
        turned += 1
      }
      let held = isHeld ? row : nil
      if rows.last != held { rows.append(held) }
    }
    return rows
  }
}
