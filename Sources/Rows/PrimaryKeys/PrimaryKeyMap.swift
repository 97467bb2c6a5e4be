import SatchelBundle
import SatchelCapture
import SatchelValues

/// The changes of primary keys and of the references to them. All changes apply at once: 5 may become 6 while 6
/// becomes 7.
public struct PrimaryKeyMap: Sendable {
  /// The old and the new key of one row.
  public struct Entry: Hashable, Sendable {
    /// The index of the row's table in the dataset.
    public let place: Int
    public let old: Value
    public let new: Value

    public init(place: Int, old: Value, new: Value) {
      self.place = place
      self.old = old
      self.new = new
    }
  }

  private let references: PrimaryKeyReferences
  private let tables: [TrackedTable]
  private var renamed: [Int: [Value: Value]] = [:]

  public init(_ references: PrimaryKeyReferences, _ tables: [TrackedTable], _ entries: [Entry] = []) {
    self.references = references
    self.tables = tables
    for entry in entries { add(entry) }
  }

  public var isEmpty: Bool { renamed.isEmpty }

  public mutating func add(_ entry: Entry) { renamed[entry.place, default: [:]][entry.old] = entry.new }

  public func new(_ old: Value, in place: Int) -> Value? { renamed[place]?[old] }

  /// The value that a column has after the changes. It differs from `value` if the column is or refers to a changed
  /// key.
  public func value(_ value: Value, in column: Int, of place: Int) -> Value {
    guard let owner = references.columns[place][column], let map = renamed[owner] else { return value }
    if let new = map[value] { return new }
    // A reference may hold the number as a text or as a real number.
    guard case .integer(let new)? = map[tables[owner].key(namedBy: value)] else { return value }
    switch value {
    case .real: return .real(Double(new))
    case .text: return .string(String(new))
    case .null, .integer, .blob: return value
    }
  }

  public func row(_ row: Row, of place: Int) -> Row {
    Row(row.values.enumerated().map { value($1, in: $0, of: place) })
  }

  public func key(_ key: RowKey, of place: Int) -> RowKey {
    RowKey(zip(tables[place].schema.key, key.values).map { value($1, in: $0, of: place) })
  }

  public func step(_ step: Step, of place: Int) -> Step {
    if isEmpty { return step }
    let change: Change =
      switch step.change {
      case .insert(let row): .insert(self.row(row, of: place))
      case .delete(let was): .delete(was: row(was, of: place))
      case .update(let changes):
        .update(
          changes.map {
            ColumnChange(
              column: $0.column, was: value($0.was, in: $0.column, of: place),
              value: value($0.value, in: $0.column, of: place))
          })
      }
    return Step(
      table: step.table, key: key(step.key, of: place), generation: step.generation, stamp: step.stamp,
      first: step.first, change: change, unit: step.unit)
  }

  /// The same conflict with the new keys in its key and in the base and device values. The hub's values do not
  /// change.
  public func record(_ record: ConflictRecord, of place: Int) -> ConflictRecord {
    var moved = record
    moved.key = key(record.key, of: place)
    moved.baseValues = record.baseValues.map { fields($0, of: place) }
    moved.deviceValues = record.deviceValues.map { fields($0, of: place) }
    return moved
  }

  /// A line from a device with the new keys. Lines about keys are unchanged.
  public func line(_ line: ChangeLine, of place: Int) -> ChangeLine {
    let content: ChangeLine.Content =
      switch line.content {
      case .insert(let row): .insert(fields(row, of: place))
      case .update(let set, let was): .update(set: fields(set, of: place), was: fields(was, of: place))
      case .delete(let was): .delete(was: fields(was, of: place))
      case .row(let row): .row(fields(row, of: place))
      case .gone, .rekey, .block: line.content
      }
    return ChangeLine(
      table: line.table, key: line.content.isAboutKeys ? line.key : key(line.key, of: place),
      generation: line.generation,
      stamp: line.stamp, first: line.first, content: content, unit: line.unit)
  }

  private func fields(_ fields: [Field], of place: Int) -> [Field] {
    fields.map { field in
      Field(
        field.name,
        tables[place].schema.position(of: field.name).map { value(field.value, in: $0, of: place) } ?? field.value)
    }
  }
}
