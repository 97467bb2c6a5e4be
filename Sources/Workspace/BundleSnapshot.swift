import SatchelBundle
import SatchelSQLite
import SatchelValues

/// The database that a bundle carries, opened as the work of a stranger.
public enum BundleSnapshot {
  /// Opens the database and checks that there is nothing in it but these tables, their indexes, and the stamps of rows.
  ///
  /// Throws a `BundleError` where it is no sound database, or holds anything else. Returns nil where the bundle carries
  /// none.
  public static func open(_ bundle: borrowing VerifiedBundle, holding tables: [Name]) throws -> Database? {
    guard let path = bundle.path(of: .snapshot) else { return nil }
    let database: Database
    do { database = try Database.untrusted(path: path) } catch let error as SQLiteError {
      if error.isOfTheMachine { throw error }
      throw BundleError.entry("snapshot.sqlite", "is no sound database (\(error.message))")
    }
    if let encoding = try database.otherTextEncoding() {
      throw BundleError.entry("snapshot.sqlite", "holds its texts in \(encoding), and not in UTF-8")
    }
    let known = tables + [Name(SnapshotBuilder.stampTable)]
    try database.each("SELECT type, name, tbl_name, sql LIKE 'CREATE VIRTUAL%' FROM sqlite_schema") {
      let (type, name, table) = ($0.text(0), $0.text(1), Name($0.text(2)))
      // SQLite keeps its own counters and statistics in tables that nobody else can make.
      if type == "table", name.hasPrefix("sqlite_") { return }
      guard type == "table" || type == "index", known.contains(where: { $0.isSameInSQL(as: table) }), $0.integer(3) == 0
      else {
        throw BundleError.entry("snapshot.sqlite", "holds what is no part of the dataset: the \(type) \(name)")
      }
    }
    return database
  }
}
