import SatchelCapture
import SatchelSQLite
import SatchelValues

/// A table in a device's database that has rows and is not in the dataset. Its rows stay on this device.
public struct LocalTable: Sendable {
  public let name: Name
  /// Whether the table is in the contents of a GeoPackage, so that people see it as a layer.
  public let isLayer: Bool
}

extension LocalTable {
  /// Finds the local tables of a database, sorted by their names.
  /// - Parameter tables: the tables of the dataset.
  static func find(besides tables: [TrackedTable], in database: borrowing Database) throws -> [LocalTable] {
    let known = Set(tables.map { $0.name.text.lowercased() })
    let layers = Set(try database.layersInContents().map { $0.text.lowercased() })
    var found: [LocalTable] = []
    for table in try database.tablesOfApps() where !known.contains(table.text.lowercased()) {
      guard hasRows(table, in: database) else { continue }
      found.append(LocalTable(name: table, isLayer: layers.contains(table.text.lowercased())))
    }
    return found
  }

  /// Whether a table has rows. False also for a table that cannot be read. Such a table is no fault for Satchel: it may
  /// have a damaged page, or a collation that only its app has.
  private static func hasRows(_ table: Name, in database: borrowing Database) -> Bool {
    (try? database.first("SELECT 1 FROM \(quoted(table)) LIMIT 1", [:], { _ in true })) == true
  }
}
