import SatchelBundle
import SatchelCrypto
import SatchelJSON
import SatchelMerge
import SatchelValues

extension ConflictID {
  /// The id of a conflict about one change: a digest of the change's device, row, values, generation and stamp.
  ///
  /// Row and generation are not enough. A device's change may lose, and the device may write the row again before its
  /// next export and lose again. Two ids then keep both values.
  /// - Parameter stamp: the stamp of the device's own clock, not limited by the hub. With it hub and device compute
  ///   the same id.
  static func of(
    device: ReplicaID, table: Name, key: RowKey, generation: Generation, stamp: Stamp, operation: Operation,
    deviceValues: [Field]?
  ) -> ConflictID {
    let parts: [Value] =
      [.string(device.text), .string(table.text)] + key.values
      + [.integer(generation.rawValue), .integer(stamp.rawValue), .string(operation.rawValue)]
      + Self.parts(deviceValues ?? [])
    return ofDigest(parts)
  }

  /// The id of a further conflict about the same change, which met these other values at the hub.
  public func meeting(_ values: [Field]) -> ConflictID { .ofDigest([.string(text)] + Self.parts(values)) }

  private static func parts(_ fields: [Field]) -> [Value] { fields.flatMap { [.string($0.name.text), $0.value] } }

  private static func ofDigest(_ parts: [Value]) -> ConflictID {
    let digits = Hexadecimal.text(of: blake2b(canonicalKey(RowKey(parts)), length: 16))
    // The digest has 16 bytes, so the text always has 32 hexadecimal digits.
    return ConflictID(digits)!
  }
}

extension ConflictRecord {
  /// The id that this record must have if `device` made the change.
  public func name(asChangeOf device: ReplicaID) -> ConflictID {
    .of(
      device: device, table: table, key: key, generation: generation, stamp: stamp, operation: operation,
      deviceValues: deviceValues)
  }

  /// Whether this record has an id that it may have if `device` made the change.
  public func isNamed(asChangeOf device: ReplicaID) -> Bool {
    let name = name(asChangeOf: device)
    return id == name || id == name.meeting(hubValues ?? [])
  }

  /// The record of a device's change in a table that has left the dataset; nil if the line is not about a row.
  /// - Parameter version: the dataset version in which the table left the dataset.
  public init?(
    ofDeparted line: ChangeLine, _ generation: Generation, in version: Int64, device: ReplicaID, user: String
  ) {
    let (operation, base, own): (Operation, [Field]?, [Field]?)
    switch line.content {
    case .insert(let fields): (operation, base, own) = (.insert, nil, fields)
    case .update(let set, let was): (operation, base, own) = (.update, was, set)
    case .delete(let was): (operation, base, own) = (.delete, was, nil)
    case .row, .gone, .rekey, .block: return nil
    }
    self.init(
      id: .of(
        device: device, table: line.table, key: line.key, generation: generation, stamp: line.stamp,
        operation: operation,
        deviceValues: own),
      device: device, user: user, table: line.table, key: line.key, generation: generation, stamp: line.stamp,
      operation: operation, kind: .revoked, state: .open, baseValues: base, hubValues: nil, deviceValues: own,
      winners: [],
      rowWinner: .hub, note: "The table \(line.table) left the dataset with version \(version).")
  }

  /// The record of a device's change that disagrees with the present row.
  /// - Parameters:
  ///   - stamp: the change's stamp by the device's own clock.
  ///   - met: the row that disagreed with the change; nil if there was none.
  public init(
    _ disagreement: Disagreement, of change: Change, at stamp: Stamp, generation: Generation, key: RowKey,
    in schema: TableSchema,
    met: Row?, device: ReplicaID, user: String, note: String? = nil
  ) {
    let columns = disagreement.winners.isEmpty ? Array(schema.columns.indices) : disagreement.winners.keys.sorted()
    func fields(_ row: Row) -> [Field] { columns.map { Field(schema.columns[$0], row[$0]) } }
    let baseValues: [Field]?
    let deviceValues: [Field]?
    let operation: Operation
    switch change {
    case .insert(let row):
      (operation, baseValues, deviceValues) = (.insert, nil, schema.fields(row))
    case .delete(let was):
      (operation, baseValues, deviceValues) = (.delete, schema.fields(was), nil)
    case .update(let changes):
      operation = .update
      baseValues = changes.map { Field(schema.columns[$0.column], $0.was) }
      deviceValues = changes.map { Field(schema.columns[$0.column], $0.value) }
    }
    self.init(
      id: .of(
        device: device, table: schema.name, key: key, generation: generation, stamp: stamp, operation: operation,
        deviceValues: deviceValues),
      device: device, user: user, table: schema.name, key: key, generation: generation, stamp: stamp,
      operation: operation,
      kind: disagreement.kind, state: disagreement.state,
      baseValues: baseValues, hubValues: met.map(fields), deviceValues: deviceValues,
      winners: disagreement.winners.sorted { $0.key < $1.key }.map { ColumnWinner(schema.columns[$0.key], $0.value) },
      rowWinner: disagreement.rowWinner, note: note)
  }
}
