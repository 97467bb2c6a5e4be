import SatchelSQLite
import SatchelValues

/// Changes Satchel's own tables in a database of an earlier release into the tables of this release.
///
/// The table `satchel_schema` holds the version of these tables. A database of release 0.1 does not have it and
/// counts as version 1.
public struct SchemaUpgrade: Sendable {
  public typealias Step = @Sendable (borrowing Database) throws -> Void

  public static let schema = """
    CREATE TABLE satchel_schema (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      version INTEGER NOT NULL -- of Satchel's own tables; 1 is release 0.1, which has no such table
    )
    """

  private let steps: [Step]
  private var newest: Int64 { Int64(steps.count) + 1 }

  /// - Parameter steps: the first step leads from version 1 to version 2.
  public init(_ steps: [Step]) { self.steps = steps }

  /// Records that a new database has the tables of this release. The caller has begun the transaction.
  public func begin(in database: borrowing Database) throws {
    try database.execute(Self.schema)
    try database.run("INSERT INTO satchel_schema VALUES (1, :version)", ["version": .integer(newest)])
  }

  /// Runs the missing steps in one transaction. If the database is of this release, nothing is written.
  /// - Throws: `WorkspaceError` if a newer release has changed the database.
  public func run(in database: borrowing Database) throws {
    if try version(of: database) == newest { return }
    try database.writeTransaction {
      let version = try version(of: database)
      guard version <= newest else {
        throw WorkspaceError(
          .newerSchema, "A newer version of Satchel has changed this database.",
          hint: "Install that version here too.")
      }
      for step in steps[Int(version - 1)...] { try step(database) }
      if version == 1 { return try begin(in: database) }
      try database.run("UPDATE satchel_schema SET version = :version", ["version": .integer(newest)])
    }
  }

  private func version(of database: borrowing Database) throws -> Int64 {
    guard try database.hasTable("satchel_schema") else { return 1 }
    return try database.first("SELECT version FROM satchel_schema") { $0.integer(0) } ?? 1
  }
}
