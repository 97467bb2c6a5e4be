import Testing

/// Trees and visits as GIS programs write them: at an office, on ann's tablet and on ben's phone. A column of visits
/// holds a tree's key, but the schema declares no foreign key.
struct TreeFixture {
  let camp: CommandLineFixture

  static let trees = "CREATE TABLE trees (fid INTEGER PRIMARY KEY, name TEXT, tier INTEGER DEFAULT 1);"
  static let visits = "CREATE TABLE visits (fid INTEGER PRIMARY KEY, tree_fid INTEGER, note TEXT);"
  /// Trees that have a name of their own, `uuid`, besides the local key.
  static let named = """
    CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL COLLATE NOCASE UNIQUE, name TEXT);
    CREATE TABLE visits (fid INTEGER PRIMARY KEY, tree TEXT, note TEXT);
    """
  static let toTrees = #""references": { "tree_fid": "trees" }"#
  static let toNames = #""references": { "tree": { "table": "trees", "column": "uuid" } }"#
  static let databases = ["office.sqlite", "tablet/data.sqlite", "phone/data.sqlite"]

  /// - Parameters:
  ///   - trees: the members of the table trees in the definition.
  ///   - visits: the members of the table visits. Further tables may follow them.
  init(
    _ schema: String = trees + visits, trees: String = #""keys": "rekey""#,
    visits: String = #""keys": "rekey", "# + toTrees
  ) throws {
    camp = try TwoDeviceFixture(schema, #""trees": { \#(trees) }, "visits": { \#(visits) }"#).camp
  }

  /// Each visit's note with the name of its tree.
  func notes(_ database: String) throws -> String {
    try camp.rows(
      database,
      """
      SELECT trees.name, visits.note
      FROM visits LEFT JOIN trees ON trees.fid = visits.tree_fid
      ORDER BY visits.note
      """)
  }

  /// Makes a tree and a visit to it.
  func plant(_ database: String, _ name: String) throws {
    try camp.sql(
      database,
      """
      INSERT INTO trees (name) VALUES ('\(name)');
      INSERT INTO visits (tree_fid, note) SELECT max(fid), 'of \(name)' FROM trees;
      """)
  }

  /// The kind and the state of each conflict that a database keeps.
  func conflicts(_ database: String) throws -> String {
    try camp.rows(database, "SELECT table_name, kind, state FROM satchel_conflicts ORDER BY table_name, kind, state")
  }

  /// Tries to make a hub. The result shows whether that succeeded.
  static func initialise(_ schema: String, _ tables: String) throws -> CommandLineFixture.Outcome {
    let camp = try CommandLineFixture()
    try camp.sql("office.sqlite", schema)
    try camp.write("camp.json", #"{ "dataset": "camp", "version": 1, "tables": { \#(tables) } }"#)
    return camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
  }

  /// Brings the hub to version 2 of the dataset.
  func apply(trees: String, visits: String, migration: String? = nil) throws -> CommandLineFixture.Outcome {
    try camp.write(
      "next.json",
      """
      { "dataset": "camp", "version": 2, "attributes": { "tier": "integer" }, "tables": {
        "trees": { \(trees) }, "visits": { \(visits) } } }
      """)
    guard let migration else { return camp.hub("dataset", "apply", camp.path("next.json"), "--json") }
    try camp.write("next.sql", migration)
    return camp.hub("dataset", "apply", camp.path("next.json"), "--migration", camp.path("next.sql"), "--json")
  }
}
