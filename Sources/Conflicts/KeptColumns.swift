import SatchelBundle
import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Converts values from the time when their table had other columns to the present columns.
extension TableSchema {
  /// Makes a whole row from such values. Values of removed columns are left out. Added columns get their default.
  public func row(kept fields: [Field], in database: borrowing Database) throws -> Row {
    let present = fields.filter { position(of: $0.name) != nil }
    if present.count == columns.count { return try row(present) }
    let missing = columns.filter { column in !present.contains { $0.name == column } }
    return try row(present + zip(missing, database.defaultValues(of: missing, in: name)).map { Field($0, $1) })
  }
}

extension ConflictRecord {
  /// A copy of the record with only the present columns of its table. The stored record keeps the values of removed
  /// columns too.
  public func present(in schema: TableSchema, _ database: borrowing Database) throws -> ConflictRecord {
    var record = self
    func present(_ fields: [Field]?) -> [Field]? { fields?.filter { schema.position(of: $0.name) != nil } }
    (record.baseValues, record.hubValues, record.deviceValues) = (
      present(baseValues), present(hubValues), present(deviceValues)
    )
    switch operation {
    case .insert: record.deviceValues = schema.fields(try schema.row(kept: deviceValues ?? [], in: database))
    case .delete: record.baseValues = schema.fields(try schema.row(kept: baseValues ?? [], in: database))
    case .update: break
    }
    return record
  }
}
