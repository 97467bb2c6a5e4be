import SatchelBundle
import SatchelValues

/// Reads what a device may have of a row before it takes a line: the row as it was at each emission on which the device
/// may be.
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

  /// - Parameter now: the row as it is.
  func belief(of member: RowNumbers.Member, now: Row?, in place: Int) throws -> RowBelief {
    // From the newest emission back to the oldest one.
    let stops = zip(plan.emissions, plan.held).reversed().map {
      RowBelief.Stop(cursor: $0.cursor, isHeld: $1[place].contains(member.number))
    }
    guard stops.contains(where: \.isHeld) else { return RowBelief(now: nil, stops: stops) }
    var belief = RowBelief(now: now, stops: stops)
    try store.eachTurn(from: member.cursor, after: stops.last?.cursor ?? .zero, in: place) { belief.turns.append($0) }
    return belief
  }
}

/// What a device may have of a row, as it is read from the database. What follows from it, another core works out.
struct RowBelief: Sendable {
  /// One change of the row, as far as it leads back to what was there before it.
  struct Turn: Sendable {
    enum Before: Sendable {
      case nothing
      case row(Row)
      /// JSON of the values that it wrote over.
      case values([UInt8])
    }

    let cursor: Cursor
    let before: Before
  }

  /// An emission on which the device may be.
  struct Stop: Sendable {
    let cursor: Cursor
    /// Whether it held the row.
    let isHeld: Bool
  }

  var now: Row?
  /// The newest first, as are the stops.
  var turns: [Turn] = []
  let stops: [Stop]

  /// The rows as the emissions left them; nil stands for a row that is not there.
  func rows(in schema: TableSchema, _ reader: inout FieldsReader) throws -> [Row?] {
    var rows: [Row?] = []
    var row = now
    var turned = 0
    for stop in stops {
      while turned < turns.count, turns[turned].cursor > stop.cursor {
        row = try turns[turned].leadingBack(row, in: schema, &reader)
        turned += 1
      }
      let held = stop.isHeld ? row : nil
      if rows.last != held { rows.append(held) }
    }
    return rows
  }

  var byteCount: Int {
    turns.reduce(now?.byteCount ?? 0) { sum, turn in
      switch turn.before {
      case .nothing: sum
      case .row(let row): sum + row.byteCount
      case .values(let bytes): sum + bytes.count
      }
    }
  }
}

extension RowBelief.Turn {
  fileprivate func leadingBack(_ after: Row?, in schema: TableSchema, _ reader: inout FieldsReader) throws -> Row? {
    switch before {
    case .nothing: return nil
    case .row(let row): return row
    case .values(let bytes):
      var row = after
      for field in try reader.parse(bytes) {
        if let column = schema.position(of: field.name) { row?[column] = field.value }
      }
      return row
    }
  }
}

extension HubStore {
  /// Reads the log of one row back from its newest entry.
  /// - Parameters:
  ///   - newest: where that entry is; nil: the row has none.
  ///   - cursor: entries up to this one are not read.
  fileprivate func eachTurn(
    from newest: Cursor?, after cursor: Cursor, in place: Int, _ body: (RowBelief.Turn) throws -> Void
  ) throws {
    var next = newest
    while let at = next, at > cursor {
      defer { logged.turn.reset() }
      try logged.turn.bind(.integer(at.rawValue), at: 1)
      // What was there before the log began is not in it.
      guard try logged.turn.step() else { return }
      let values = logged.turn.textBytes(1)
      next = logged.turn.optionalInteger(2).map { Cursor($0) }
      switch Operation(rawValue: logged.turn.text(0)) {
      case .insert: try body(.init(cursor: at, before: .nothing))
      case .update: try body(.init(cursor: at, before: .values(values ?? Self.noValues)))
      case .delete:
        let row = try rows[place].schema.row(kept: FieldsCoding.parse(values ?? Self.noValues), in: database)
        try body(.init(cursor: at, before: .row(row)))
      case nil: return
      }
    }
  }

  private static let noValues = Array("{}".utf8)
}
