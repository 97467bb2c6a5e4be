import SatchelCapture
import SatchelSQLite
import SatchelValues

/// All rows of some tables that have a primary key, by table and key. Tests compare two copies of a database by this
/// type.
struct Contents: Equatable {
  private(set) var tables: [Name: [RowKey: Row]] = [:]

  init(of tables: [TrackedTable], in database: borrowing Database) throws {
    for table in tables {
      var rows: [RowKey: Row] = [:]
      try database.each(table.allRowsSQL) { statement in
        let row = Row(statement.values(from: 0, count: table.schema.columns.count))
        let key = table.schema.key(of: row)
        if !key.values.contains(.null) { rows[key] = row }
      }
      self.tables[table.name] = rows
    }
  }

  /// Applies one step. Returns a message if the step does not fit the present rows, or changes nothing.
  mutating func apply(_ step: Step) -> String? {
    let current = tables[step.table]?[step.key]
    let next: Row?
    switch (step.change, current) {
    case (.insert(let row), nil): next = row
    case (.insert, _?): return "it inserts a row that is there"
    case (.delete(let was), let row?) where was == row: next = nil
    case (.delete, _): return "it deletes another row than is there"
    case (.update, nil): return "it updates a row that is not there"
    case (.update(let columns), var row?):
      if columns.isEmpty { return "it changes no column" }
      for column in columns {
        if row[column.column] != column.was { return "it updates another value than is there" }
        if column.was == column.value { return "it changes a value to itself" }
        row[column.column] = column.value
      }
      next = row
    }
    tables[step.table, default: [:]][step.key] = next
    return nil
  }

  /// The differences, in words.
  func differences(from other: Contents) -> [String] {
    tables.keys.sorted().flatMap { table in
      let mine = tables[table] ?? [:]
      let theirs = other.tables[table] ?? [:]
      return Set(mine.keys).union(theirs.keys).filter { mine[$0] != theirs[$0] }
        .map { "\(table) \(list($0.values)): \(mine[$0].map(list) ?? "-") is not \(theirs[$0].map(list) ?? "-")" }
        .sorted()
    }
  }
}

/// A value as an SQL literal. Bytes that are not UTF-8 are written in hexadecimal.
func literal(_ value: Value) -> String {
  switch value {
  case .null: return "NULL"
  case .integer(let number): return String(number)
  case .real(let number): return number.description
  case .blob(let bytes): return "x'\(Hexadecimal.text(of: bytes))'"
  case .text(let bytes):
    guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(where: { $0 < 32 }) else {
      return "text x'\(Hexadecimal.text(of: bytes))'"
    }
    return "'\(text)'"
  }
}

func list(_ values: [Value]) -> String { values.map(literal).joined(separator: ", ") }

func list(_ row: Row) -> String { list(row.values) }

/// A step as a line of text, for example `update t 1: b 'x' -> 'y'`. If its generation is not the first, the line
/// begins with the generation.
func text(_ step: Step, _ tables: [TrackedTable]) -> String {
  let columns = tables.first { $0.name == step.table }?.schema.columns ?? []
  let what =
    switch step.change {
    case .insert(let row): "insert \(step.table) \(list(row))"
    case .delete(let row): "delete \(step.table) \(list(row))"
    case .update(let changes):
      "update \(step.table) \(list(step.key.values)): "
        + changes.map { "\(columns[$0.column]) \(literal($0.was)) -> \(literal($0.value))" }.joined(separator: ", ")
    }
  return step.generation == .zero ? what : "@\(step.generation) \(what)"
}
