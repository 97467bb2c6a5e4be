import SatchelBundle
import SatchelValues

/// Reads the states that a row may have on a device before the device applies a line. These are the row at each
/// emission that the device may have. Also reads the later writes of other replicas.
///
/// If the row on the device has another state, it was changed without capture, and the device records its row as a
/// conflict. The digests reveal nothing that was not sent to the device. For an emission without the row, the digest
/// says that the row does not exist.
final class RowBeliefs {
  private let store: HubStore
  private let plan: EmissionPlan
  private let device: [UInt8]
  /// For each table, whether stamps may decide between two new rows with one key.
  private let comparesStamps: [Bool]
  private var reader = FieldsReader()

  /// Returns nil if the states are unknown: the device has no emission or too many possible ones, or one of these
  /// emissions has another version of the dataset, or is older than the log.
  init?(_ store: HubStore, _ plan: EmissionPlan) {
    guard !plan.emissions.isEmpty, plan.emissions.allSatisfy({ $0.version == store.dataset.version }),
      plan.emissions.allSatisfy({ $0.cursor >= store.identity.logFrom }),
      plan.emissions.count <= Manifest.Scope.mostFollowed
    else { return nil }
    self.store = store
    self.plan = plan
    device = Array(plan.device.id.text.utf8)
    comparesStamps = store.rows.map(\.rules.comparesStamps)
  }

  /// Whichever emission the device has, it has all changes up to this cursor.
  var since: Cursor { plan.emissions.first?.cursor ?? .zero }

  /// - Parameter now: the present row.
  func belief(of member: RowNumbers.Member, now: Row?, in place: Int) throws -> RowBelief {
    // The stops go from the newest emission back to the oldest one.
    let stops = zip(plan.emissions, plan.held).reversed().map {
      RowBelief.Stop(cursor: $0.cursor, number: $0.number, isHeld: $1[place].contains(member.number))
    }
    let isHeld = stops.contains(where: \.isHeld)
    var belief = RowBelief(now: isHeld ? now : nil, stops: stops)
    guard isHeld || now != nil && comparesStamps[place] else { return belief }
    try store.eachTurn(from: member.cursor, after: since, of: device, in: place) { belief.turns.append($0) }
    return belief
  }

  /// The writes of other replicas in a row of a full bundle.
  func others(of member: RowNumbers.Member, in place: Int) throws -> [OthersWrite] {
    guard let cursor = member.cursor, cursor > since else { return [] }
    let belief = try belief(of: member, now: store.rows[place].row(member.key), in: place)
    let schema = store.tables[place].schema
    return try belief.past(in: schema, &reader).others(in: schema, beside: member.stamp) ?? []
  }
}

extension HubStore {
  /// Reads the log of one row backwards, beginning with its newest entry.
  /// - Parameters:
  ///   - newest: the cursor of the newest entry. nil if the row has none.
  ///   - cursor: entries up to this cursor are not read.
  ///   - device: the id of the device whose own entries are marked.
  fileprivate func eachTurn(
    from newest: Cursor?, after cursor: Cursor, of device: [UInt8], in place: Int,
    _ body: (RowBelief.Turn) throws -> Void
  ) throws {
    var next = newest
    let kept = try logged.turn()
    while let at = next, at > cursor {
      defer { kept.statement.reset() }
      try kept.statement.bind(.integer(at.rawValue), at: 1)
      // The log does not reach back to this entry.
      guard try kept.statement.step() else { return }
      let values = kept.statement.textBytes(1)
      next = kept.statement.optionalInteger(2).map { Cursor($0) }
      let before: RowBelief.Turn.Before
      switch Operation(rawValue: kept.statement.text(0)) {
      case .insert: before = .nothing
      case .update: before = .values(values ?? Self.noValues)
      case .delete:
        before = .row(try rows[place].schema.row(kept: FieldsCoding.parse(values ?? Self.noValues), in: database))
      case nil: return
      }
      let isOthers = kept.statement.textBytes(3) != device
      try body(.init(cursor: at, before: before, stamp: Stamp(kept.statement.integer(4)), isOthers: isOthers))
    }
  }

  private static let noValues = Array("{}".utf8)
}
