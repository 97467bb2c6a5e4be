/// A column of an update, with its former and its new value.
public struct ColumnChange: Hashable, Sendable {
  public let column: Int
  public let was: Value
  public let value: Value

  public init(column: Int, was: Value, value: Value) {
    self.column = column
    self.was = was
    self.value = value
  }
}

extension Row {
  /// Writes the new values of an update.
  public mutating func write(_ changes: [ColumnChange]) {
    for change in changes { self[change.column] = change.value }
  }

  /// Writes values by the names of their columns. Columns that the schema does not have are left out.
  public mutating func write(_ fields: [Field], in schema: TableSchema) {
    for field in fields {
      if let column = schema.position(of: field.name) { self[column] = field.value }
    }
  }
}

/// The difference between two states of a row.
public enum Change: Hashable, Sendable {
  case insert(Row)
  case update([ColumnChange])
  case delete(was: Row)
}

/// The change of one row in one generation.
public struct Step: Hashable, Sendable {
  public let table: Name
  public let key: RowKey
  public let generation: Generation
  /// The stamp of the last write.
  public let stamp: Stamp
  /// The first write of the row in the generation; nil if it is not known.
  public let first: FirstWrite?
  public let change: Change
  /// The unit of the change, within its generation; nil if the change is in no unit.
  public var unit: UnitNumber?

  public init(
    table: Name, key: RowKey, generation: Generation, stamp: Stamp, first: FirstWrite? = nil, change: Change,
    unit: UnitNumber? = nil
  ) {
    self.table = table
    self.key = key
    self.generation = generation
    self.stamp = stamp
    self.first = first
    self.change = change
    self.unit = unit
  }
}

extension Step {
  /// A copy of this step with another change.
  public func with(_ change: Change) -> Step {
    Step(table: table, key: key, generation: generation, stamp: stamp, first: first, change: change, unit: unit)
  }

  /// The approximate size of the step's values in memory, in bytes.
  public var byteCount: Int {
    switch change {
    case .insert(let row), .delete(let row): row.byteCount
    case .update(let changes): changes.reduce(0) { $0 + $1.was.byteCount + $1.value.byteCount }
    }
  }
}

extension Change {
  /// The change from one state of a row to the next; nil if both are equal. A nil state means that the row does not
  /// exist.
  public init?(from before: Row?, to after: Row?) {
    switch (before, after) {
    case (nil, nil): return nil
    case (nil, let after?): self = .insert(after)
    case (let before?, nil): self = .delete(was: before)
    case (let before?, let after?):
      let changed = before.values.indices.filter { before[$0] != after[$0] }
      if changed.isEmpty { return nil }
      self = .update(changed.map { ColumnChange(column: $0, was: before[$0], value: after[$0]) })
    }
  }
}
