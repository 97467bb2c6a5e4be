import SatchelJSON
import SatchelValues

/// A line of `changes.jsonl`.
public struct ChangeLine: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    /// From a device: a new row, with all columns.
    case insert([Field])
    /// From a device: the changed columns, and their former values in the same order.
    case update(set: [Field], was: [Field])
    /// From a device: a deleted row, with its former values.
    case delete(was: [Field])
    /// From the hub: the whole present row.
    case row([Field])
    /// From the hub: the row was deleted, or left the user's scope. The line does not show which of the two.
    case gone
    /// The key of a row changed. The replica that changed it sends this line to the other one. A replica with
    /// emission `number` or a later one knows the new key.
    case rekey(to: RowKey, number: EmissionNumber)
    /// From the hub: after emission `number`, the device may use the keys from the line's key to `last` for new rows.
    case block(last: RowKey, number: EmissionNumber)

    /// Whether the line is about keys, and not about the content of a row.
    public var isAboutKeys: Bool {
      switch self {
      case .rekey, .block: true
      default: false
      }
    }
  }

  public let table: Name
  public let key: RowKey
  /// nil in lines from the hub.
  public let generation: Generation?
  public let stamp: Stamp
  /// From a device: the first write of the change; nil if it is not known.
  public let first: FirstWrite?
  public let content: Content
  /// From the hub: the states that the row may have on the device. There is one element for each emission on which
  /// the device may be: the first eight bytes of the row's digest, or nil if the row is absent there. Empty if the
  /// hub does not state this.
  public var before: [UInt64?] = []
  /// From the hub, with a row: the writes by others than the device; nil if the hub does not state them.
  public var others: [OthersWrite]?
  /// From a device: the unit of the change, within its generation; nil if it is in no unit.
  public var unit: UnitNumber?

  public init(
    table: Name, key: RowKey, generation: Generation?, stamp: Stamp, first: FirstWrite? = nil, content: Content,
    before: [UInt64?] = [], others: [OthersWrite]? = nil, unit: UnitNumber? = nil
  ) {
    self.table = table
    self.key = key
    self.generation = generation
    self.stamp = stamp
    self.first = first
    self.content = content
    self.before = before
    self.others = others
    self.unit = unit
  }
}

extension ChangeLine {
  /// The line of a device's step.
  public init(_ step: Step, schema: TableSchema) {
    func fields(_ row: Row) -> [Field] { zip(schema.columns, row.values).map { Field($0, $1) } }
    let content: Content =
      switch step.change {
      case .insert(let row): .insert(fields(row))
      case .update(let changes):
        .update(
          set: changes.map { Field(schema.columns[$0.column], $0.value) },
          was: changes.map { Field(schema.columns[$0.column], $0.was) })
      case .delete(let was): .delete(was: fields(was))
      }
    self.init(
      table: step.table, key: step.key, generation: step.generation, stamp: step.stamp,
      first: step.first, content: content, unit: step.unit)
  }

  /// The same line with another content.
  public func with(content: Content) -> ChangeLine {
    ChangeLine(
      table: table, key: key, generation: generation, stamp: stamp, first: first, content: content, before: before,
      others: others, unit: unit)
  }

  /// The step that a device's line describes. Throws a `LineProblem` if the line does not fit the table.
  public func step(in schema: TableSchema) throws(LineProblem) -> Step {
    guard let generation else { throw LineProblem("it has no generation") }
    guard key.values.count == schema.key.count else { throw LineProblem("its key is not a key of the table \(table)") }
    let change: Change =
      switch content {
      case .insert(let fields): .insert(try schema.row(fields))
      case .delete(let was): .delete(was: try schema.row(was))
      case .update(let set, let was): .update(try Self.columnChanges(set, was, schema))
      case .row, .gone, .block: throw LineProblem("it is a line from a hub")
      case .rekey: throw LineProblem("it describes no change")
      }
    if case .insert(let row) = change, schema.key(of: row) != key { throw LineProblem("its key is not its row's") }
    return Step(
      table: table, key: key, generation: generation, stamp: stamp, first: first, change: change, unit: unit)
  }

  private static func columnChanges(_ set: [Field], _ was: [Field], _ schema: TableSchema) throws(LineProblem)
    -> [ColumnChange]
  {
    guard set.count == was.count, !set.isEmpty else { throw LineProblem("\"set\" and \"was\" name different columns") }
    var changes: [ColumnChange] = []
    changes.reserveCapacity(set.count)
    for (new, old) in zip(set, was) {
      guard new.name == old.name else { throw LineProblem("\"set\" and \"was\" name different columns") }
      guard let column = schema.position(of: new.name) else { throw .noColumn(new.name) }
      if schema.key.contains(column) { throw LineProblem("an update cannot change the key's column \(new.name)") }
      if let last = changes.last, last.column >= column {
        throw LineProblem("its columns are not in the table's order")
      }
      changes.append(ColumnChange(column: column, was: old.value, value: new.value))
    }
    return changes
  }
}

/// The reason why a line is not valid. The caller adds the number of the line.
public struct LineProblem: Error {
  public let message: String
  public init(_ message: String) { self.message = message }

  static func noColumn(_ name: Name) -> Self { Self("the table has no column \(name.shortened)") }
}

extension TableSchema {
  /// Makes a whole row from named values. The names must be exactly the columns of the table, in any order.
  public func row(_ fields: [Field]) throws(LineProblem) -> Row {
    if let row = rowInOrder(fields) { return row }
    var values = [Value?](repeating: nil, count: columns.count)
    for field in fields {
      guard let column = position(of: field.name) else { throw .noColumn(field.name) }
      if values[column] != nil { throw LineProblem("the column \(field.name) occurs twice") }
      values[column] = field.value
    }
    for (column, value) in zip(columns, values) where value == nil {
      throw LineProblem("the column \(column) is missing")
    }
    return Row(values.compactMap(\.self))
  }

  /// A fast way for a sender with the same schema: the row if the names are the table's columns in their order; nil
  /// otherwise.
  public func rowInOrder(_ fields: [Field]) -> Row? {
    guard fields.count == columns.count, zip(fields, columns).allSatisfy({ $0.name == $1 }) else { return nil }
    return Row(fields.map(\.value))
  }

  public func fields(_ row: Row) -> [Field] { zip(columns, row.values).map { Field($0, $1) } }
}
