import SatchelBundle
import SatchelValues

/// The states that a row may have on a device, as read from the database. Another core computes their digests.
struct RowBelief: Sendable {
  /// One change of the row, with the values that lead back to the state before it.
  struct Turn: Sendable {
    enum Before: Sendable {
      case nothing
      case row(Row)
      /// JSON of the values that the change overwrote.
      case values([UInt8])
    }

    let cursor: Cursor
    let before: Before
    let stamp: Stamp
    /// Whether a replica other than the device made the change.
    let isOthers: Bool
  }

  /// An emission that the device may have.
  struct Stop: Sendable {
    let cursor: Cursor
    let number: EmissionNumber
    /// Whether the device held the row after this emission.
    let isHeld: Bool
  }

  var now: Row?
  /// The changes of the row, the newest first. `stops` has the same order.
  var turns: [Turn] = []
  let stops: [Stop]

  /// Goes back from the present row to the row at the oldest emission, and collects the states and the writes of
  /// others.
  func past(in schema: TableSchema, _ reader: inout FieldsReader) throws -> RowPast {
    var past = RowPast(isHeld: stops.contains(where: \.isHeld))
    var row = now
    var turned = 0
    for (place, stop) in stops.enumerated() {
      while turned < turns.count, turns[turned].cursor > stop.cursor {
        let turn = turns[turned]
        let columns: [Int]
        (row, columns) = try turn.leadingBack(row, in: schema, &reader)
        if turn.isOthers { past.note(columns, at: turn.stamp, after: place == 0 ? nil : stop.number, in: schema) }
        turned += 1
      }
      let held = stop.isHeld ? row : nil
      if past.rows.last != held { past.rows.append(held) }
    }
    return past
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
  /// The row before the change, and the changed columns. For an inserted or deleted row, these are all columns.
  fileprivate func leadingBack(_ after: Row?, in schema: TableSchema, _ reader: inout FieldsReader) throws -> (
    row: Row?, columns: [Int]
  ) {
    switch before {
    case .nothing: return (nil, Array(schema.columns.indices))
    case .row(let row): return (row, Array(schema.columns.indices))
    case .values(let bytes):
      var row = after
      var columns: [Int] = []
      for field in try reader.parse(bytes) {
        guard let column = schema.position(of: field.name) else { continue }
        row?[column] = field.value
        columns.append(column)
      }
      return (row, columns)
    }
  }
}

/// The known states of a row at the emissions that a device may have.
struct RowPast {
  /// The row at each of the emissions, the newest first. nil for an emission without the row. Equal rows in succession
  /// are listed once.
  var rows: [Row?] = []
  private let isHeld: Bool
  private var writes: [Write?] = []

  private struct Write {
    var stamp: Stamp
    let after: EmissionNumber?
  }

  /// - Parameter isHeld: whether any of the emissions held the row.
  fileprivate init(isHeld: Bool) { self.isHeld = isHeld }

  /// Records the columns that another replica wrote. The caller must begin with the newest write.
  fileprivate mutating func note(
    _ columns: [Int], at stamp: Stamp, after number: EmissionNumber?, in schema: TableSchema
  ) {
    if writes.isEmpty { writes = Array(repeating: nil, count: schema.columns.count) }
    for column in columns {
      if let known = writes[column] {
        writes[column]?.stamp = max(known.stamp, stamp)
      } else {
        writes[column] = Write(stamp: stamp, after: number)
      }
    }
  }

  /// The writes by other replicas, in the order of the columns. In a row that is new to the device, all columns count
  /// as written at the row's stamp. So for such a row, only writes with other stamps are listed. The result is nil if
  /// such a row has no listed write. It is empty if the device may hold the row, and no other replica wrote it.
  /// - Parameter stamp: the row's stamp.
  func others(in schema: TableSchema, beside stamp: Stamp) -> [OthersWrite]? {
    var others: [OthersWrite] = []
    for (column, write) in writes.enumerated() {
      guard let write, isHeld || write.stamp != stamp else { continue }
      others.append(
        OthersWrite(
          column: schema.columns[column], stamp: write.stamp == stamp ? nil : write.stamp, after: write.after))
    }
    return isHeld || !others.isEmpty ? others : nil
  }
}
