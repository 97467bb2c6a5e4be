import SatchelBundle
import SatchelCrypto
import SatchelValues
import SatchelWorkspace

/// What a device may have of a row before it takes a line: the row as it was at each emission on which the device may be.
///
/// A device that has something else was changed behind the back of capture, and keeps what it has as a conflict. The digests tell nothing
/// that the device was not sent: of an emission that did not hold the row, it is told that the row is not there.
final class RowBeliefs {
  private let store: HubStore
  private let plan: EmissionPlan
  private var digesters: [RowDigester]

  /// nil: the device does not understand them, or it may be on an emission of another version of the dataset.
  init?(_ store: HubStore, _ plan: EmissionPlan) {
    guard plan.device.understands.contains(.unseen), plan.emissions.allSatisfy({ $0.version == store.dataset.version }),
      plan.emissions.allSatisfy({ $0.cursor >= store.identity.logFrom }), plan.emissions.count <= Manifest.Scope.mostFollowed
    else { return nil }
    self.store = store
    self.plan = plan
    digesters = store.tables.map { RowDigester($0.schema) }
  }

  /// The first eight bytes of the digests, each once; nil stands for a row that is not there.
  /// - Parameter now: the row as it is.
  func digests(of member: RowNumbers.Member, now: Row?, in place: Int) throws -> [UInt64?] {
    let holds = plan.held.map { $0[place].contains(member.number) }
    guard holds.contains(true) else { return [nil] }
    var digests: [UInt64?] = []
    func add(_ digest: UInt64?) { if !digests.contains(digest) { digests.append(digest) } }
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
      add(isHeld ? row.map { digesters[place].digest(of: $0).first64 } : nil)
    }
    return digests
  }
}
