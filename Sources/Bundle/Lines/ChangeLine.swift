import SatchelJSON
import SatchelValues

/// One line of `changes.jsonl`.
public struct ChangeLine: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    /// A row that the device made: all its columns.
    case insert([Field])
    /// The columns that the device changed, with their former values, in the same order.
    case update(set: [Field], was: [Field])
    /// A row that the device deleted, with its former values.
    case delete(was: [Field])
    /// From the hub: the whole row as it is.
    case row([Field])
    /// From the hub: the row left this user's scope.
    case gone
    /// The key of a row changed. The hub reports its own decision to the device, or the device reports its own decision
    /// to the hub. `number` is the emission of the change. A replica that has received this emission or a later
    /// emission knows the change.
    case rekey(to: RowKey, number: EmissionNumber)
    /// From the hub: from emission `number` on, the device may use the keys from the line's key to `last`.
    case block(last: RowKey, number: EmissionNumber)

    /// Whether the line is about keys and not about a row.
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
  /// From a device: the first write of its change; nil: not known.
  public let first: FirstWrite?
  public let content: Content
  /// From the hub: the first eight bytes of each digest that the row may have on the device. There is one element for
  /// each possible emission of the device. A nil element: the row may be missing there. Empty: the hub does not say.
  public var before: [UInt64?] = []
  /// From the hub, with a row: the writes that the device did not make; nil: the hub does not say.
  public var others: [OthersWrite]?
  /// From a device: the unit of the generation to which the change belongs; nil: none.
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

  /// The step of a device's line. Throws a `LineProblem` if the line does not fit the table.
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

/// Why a line does not fit, in words. The reader of lines adds the line's number.
public struct LineProblem: Error {
  public let message: String
  public init(_ message: String) { self.message = message }

  static func noColumn(_ name: Name) -> Self { Self("the table has no column \(name.shortened)") }
}

extension TableSchema {
  /// Makes a whole row from named values. The names must be exactly the table's columns, in any order.
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

  /// The row, if the names are the table's columns in the table's order; otherwise nil. A sender with the same schema
  /// uses this order.
  public func rowInOrder(_ fields: [Field]) -> Row? {
    guard fields.count == columns.count, zip(fields, columns).allSatisfy({ $0.name == $1 }) else { return nil }
    return Row(fields.map(\.value))
  }

  public func fields(_ row: Row) -> [Field] { zip(columns, row.values).map { Field($0, $1) } }
}
