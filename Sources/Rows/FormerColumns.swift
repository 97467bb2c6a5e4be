import SatchelBundle
import SatchelJSON
import SatchelValues

/// The changes of columns from version to version. With them, data of an older version can be read.
public struct FormerColumns: Sendable {
  /// For each version, the changes of names that lead to it.
  let names: [(version: Int64, tables: JSONValue)]
  /// For each version, the values of its new columns in the rows that were there before.
  let newValues: [(version: Int64, tables: [Name: [Name: Value]])]

  /// Whether every column has the same name as in this version.
  public func areSame(since version: Int64) -> Bool { names.allSatisfy { $0.version <= version } }

  /// The values that rows of a version got in the columns that came after it, by the columns' present names. The
  /// present table may declare other defaults.
  public func newValues(of table: Name, since version: Int64) -> [(column: Name, value: Value)] {
    newValues.filter { $0.version > version }.flatMap { step in
      (step.tables[table] ?? [:]).compactMap { column, value in
        current(column, of: table, since: step.version).map { ($0, value) }
      }
    }
  }

  /// A row of a version, with the values that it would have got in the columns that came after it.
  /// - Parameter fields: by the columns' present names.
  public func completed(_ fields: [Field], of table: Name, since version: Int64) -> [Field] {
    let names = Set(fields.map(\.name))
    return fields
      + newValues(of: table, since: version).filter { !names.contains($0.column) }.map { Field($0.column, $0.value) }
  }

  /// The present name of a column that was named `column` in a version; nil if the column is gone. An unknown column
  /// keeps its name.
  public func current(_ column: Name, of table: Name, since version: Int64) -> Name? {
    var name = column
    for step in names where step.version > version {
      switch step.tables[table.text]?[name.text] {
      case .string(let new): name = Name(new)
      case .null?: return nil
      default: continue
      }
    }
    return name
  }
}
