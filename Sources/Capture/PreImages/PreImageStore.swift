import SatchelSQLite
import SatchelValues

/// Reads and writes the pre-images of a database's tables, and computes steps from them.
public enum PreImageStore {
  /// Calls `body` for each row with pre-images of generation `first` or later, in the order of the keys. `body` gets
  /// these pre-images, oldest first, and the present row. The key is spelled as in the former row or, if there was
  /// none, as in the present row.
  /// - Parameter limit: selects only rows whose oldest pre-image is of an earlier generation; nil selects all.
  public static func each(
    _ table: TrackedTable, since first: Generation, begunBefore limit: Generation? = nil,
    in database: borrowing Database, _ body: (RowKey, [PreImage], Row?) throws -> Void
  ) throws {
    let pending = try database.prepare(table.pendingSQL)
    try pending.bind(.integer(first.rawValue), to: "first")
    let current = try database.prepare(table.currentSQL)
    var group: [SavedRow] = []
    func finishGroup() throws {
      guard let first = group.first else { return }
      if let limit, first.generation >= limit {
        group = []
        return
      }
      let row = try row(first.key, of: table, by: current)
      let key = first.image.row == nil ? row.map(table.schema.key) ?? first.key : first.key
      try body(key, group.map(\.image), row)
      group = []
    }
    while try pending.step() {
      let saved = SavedRow(pending, of: table)
      if let last = group.last, last.key != saved.key { try finishGroup() }
      group.append(saved)
    }
    try finishGroup()
  }

  /// Calls `body` for the key of each row with pre-images of generation `first` or later, in the order of the keys.
  /// If the row exists, it is the current row of the given query. The pre-images are not read.
  public static func eachPresent(
    _ table: TrackedTable, since first: Generation, in database: borrowing Database,
    _ body: (RowKey, _ exists: Bool, borrowing Statement) throws -> Void
  ) throws {
    let keys = try database.prepare(table.changedKeysSQL)
    try keys.bind(.integer(first.rawValue), to: "first")
    let current = try database.prepare(table.currentSQL)
    while try keys.step() {
      let key = RowKey(keys.values(from: 0, count: table.schema.key.count))
      current.reset()
      try current.bind(key.values)
      // SQLite compares by the column's collation, so it may find a row with another key.
      let exists = try current.step() && RowKey(table.schema.key.map { current.value($0) }) == key
      try body(key, exists, current)
    }
  }

  /// Calls `body` for each spelling of one row's key, such as 1 and 1.0, with its pre-images and the present row. For
  /// another spelling than the row's own, the row is nil.
  ///
  /// So in the steps of a device, a change of the spelling is a delete and an insert, like any change of a key.
  static func eachSpelling(
    of group: [SavedRow], current: Row?, of table: TrackedTable, _ body: (RowKey, [PreImage], Row?) throws -> Void
  ) throws {
    let present = current.map(table.schema.key)
    var spellings: [RowKey] = []
    for key in group.map(\.key) + [present].compactMap(\.self)
    where !spellings.contains(where: { $0.values == key.values }) {
      spellings.append(key)
    }
    for key in spellings {
      try body(key, group.map { $0.image(spelled: key) }, present?.values == key.values ? current : nil)
    }
  }

  static func row(_ key: RowKey, of table: TrackedTable, by statement: borrowing Statement) throws -> Row? {
    defer { statement.reset() }
    try statement.bind(key.values)
    guard try statement.step() else { return nil }
    let row = Row(statement.values(from: 0, count: table.schema.columns.count))
    // SQLite compares by the column's collation, so it may have found a row with another key.
    return table.schema.key(of: row) == key ? row : nil
  }

  /// The present row with this key; nil if there is none.
  static func row(_ key: RowKey, of table: TrackedTable, in database: borrowing Database) throws -> Row? {
    try database.using(table.currentSQL) { try row(key, of: table, by: $0) }
  }

  /// Calls `body` for each step since generation `first`, table by table in the order of the keys.
  ///
  /// - Parameter body: `place` is the step's position in an order in which all steps can be applied, lowest first.
  ///   Earlier generations come first. In a generation, deletes come before inserts, children are deleted before
  ///   parents, and parents are inserted before children. Steps with the same `place` are applied in the order of the
  ///   calls. `table` is the index in `tables`.
  public static func eachStep(
    _ tables: [TrackedTable], since first: Generation, in database: borrowing Database,
    _ body: (_ place: ApplyOrder, _ table: Int, Step) throws -> Void
  ) throws {
    for (number, table) in tables.enumerated() {
      try StepReader(table, since: first, in: database).each { step in
        var order = number
        if case .delete = step.change { order = -1 - number }
        try body(ApplyOrder(generation: step.generation, order: order), number, step)
      }
    }
  }

  /// Counts the steps of each table since generation `first`, and all steps of generation `unsent` or later.
  public static func countSteps(
    _ tables: [TrackedTable], since first: Generation, unsent: Generation, in database: borrowing Database
  ) throws -> (tables: [(table: Name, count: Int)], unsent: Int) {
    var counts: [Name: Int] = [:]
    var new = 0
    try eachStep(tables, since: first, in: database) { _, _, step in
      counts[step.table, default: 0] += 1
      if step.generation >= unsent { new += 1 }
    }
    return (tables.compactMap { table in counts[table.name].map { (table.name, $0) } }, new)
  }

  /// Whether a table has no pre-images.
  public static func isEmpty(_ table: TrackedTable, in database: borrowing Database) throws -> Bool {
    try database.first("SELECT 1 FROM \(quoted(table.names.before))") { _ in false } ?? true
  }

  /// Whether any row changed since generation `first`.
  public static func hasSteps(_ tables: [TrackedTable], since first: Generation, in database: borrowing Database) throws
    -> Bool
  {
    struct Found: Error {}
    do {
      try eachStep(tables, since: first, in: database) { _, _, _ in throw Found() }
    } catch is Found { return true }
    return false
  }

  /// Replaces all pre-images of a row.
  public static func replace(_ images: [PreImage], of key: RowKey, in table: TrackedTable, database: borrowing Database)
    throws
  {
    try database.using(table.forgetSQL) { try $0.run(key.values) }
    for image in images {
      var values = image.row?.values ?? table.schema.columns.map { _ in .null }
      // If the pre-image has a row, the key is spelled as in that row.
      if image.row == nil {
        for (place, column) in table.schema.key.enumerated() { values[column] = key.values[place] }
      }
      values += [
        .integer(image.generation.rawValue), .integer(image.row == nil ? 0 : image.isGone ? SavedRow.gone : 1),
        .integer(image.stamp.rawValue), image.first.map { .integer($0.stored) } ?? .null,
      ]
      if table.names.keepsUnits { values.append(image.unit.map { .integer($0.rawValue) } ?? .null) }
      try database.using(table.saveSQL) { try $0.run(values) }
    }
  }

  /// Saves a pre-image for each row with a key. The pre-image says that the row did not exist before.
  public static func saveAsNew(_ table: TrackedTable, stamp: Stamp, in database: borrowing Database) throws {
    let key = quotedList(table.schema.key.map { table.schema.columns[$0] })
    let controls = quotedList(table.names.always)
    try database.run(
      """
      INSERT INTO \(quoted(table.names.before)) (\(key), \(controls))
      SELECT \(key), (SELECT generation FROM satchel_capture), 0, :stamp, :stamp
      FROM \(quoted(table.name))
      WHERE NOT (\(table.isNamelessSQL))
      """, ["stamp": .integer(stamp.rawValue)])
  }

  /// Merges the pre-images of each row into one: the first version of the row, with the stamp of its last write.
  public static func joinGenerations(
    of table: TrackedTable, into generation: Generation, in database: borrowing Database
  ) throws {
    let (before, number) = (quoted(table.names.before), quoted(table.names.generation))
    let stamp = quoted(table.names.stamp)
    let isSameRow = table.schema.key.map { table.schema.columns[$0] }.map {
      "other.\(quoted($0)) = \(before).\(quoted($0))"
    }
    .joined(separator: " AND ")
    if table.names.keepsUnits {
      let unit = quoted(table.names.unit)
      try database.run(
        """
        INSERT OR IGNORE INTO satchel_unit_joins (generation, unit, other)
        SELECT :generation, \(before).\(unit), other.\(unit)
        FROM \(before) JOIN \(before) AS other ON \(isSameRow) AND other.\(unit) <> \(before).\(unit)
        """, ["generation": .integer(generation.rawValue)])
    }
    try Capture.moveUnits(to: generation, in: database)
    try database.run(
      "UPDATE \(before) SET \(stamp) = (SELECT max(other.\(stamp)) FROM \(before) AS other WHERE \(isSameRow))")
    try database.run(
      """
      DELETE FROM \(before) WHERE EXISTS (SELECT 1 FROM \(before) AS other WHERE \(isSameRow) AND other.\(number) < \
      \(before).\(number))
      """
    )
    try database.run("UPDATE \(before) SET \(number) = :generation", ["generation": .integer(generation.rawValue)])
  }

  /// Saves a pre-image of this generation for each row without pre-images. The pre-image says that the row did not
  /// exist before.
  public static func saveOthersAsNew(
    _ table: TrackedTable, generation: Generation, stamp: Stamp, in database: borrowing Database
  ) throws {
    let columns = table.schema.key.map { table.schema.columns[$0] }
    let before = quoted(table.names.before)
    let isSameRow = columns.map { "\(before).\(quoted($0)) = row.\(quoted($0)) COLLATE BINARY" }.joined(
      separator: " AND ")
    try database.run(
      """
      INSERT INTO \(before)
        (\(quotedList(columns)), \(quotedList([table.names.generation, table.names.existed, table.names.stamp])))
      SELECT \(quotedList(columns)), :generation, 0, :stamp
      FROM \(quoted(table.name)) AS row
      WHERE NOT (\(table.isNamelessSQL)) AND NOT EXISTS (SELECT 1 FROM \(before) WHERE \(isSameRow))
      """, ["generation": .integer(generation.rawValue), "stamp": .integer(stamp.rawValue)])
  }

  /// Deletes the pre-images of generations below `generation`. Returns the number of deleted pre-images for each
  /// table.
  @discardableResult
  public static func forget(
    before generation: Generation, _ tables: [TrackedTable], in database: borrowing Database
  ) throws -> [Name: Int64] {
    var counts: [Name: Int64] = [:]
    for table in tables {
      try database.run(
        "DELETE FROM \(quoted(table.names.before)) WHERE \(quoted(table.names.generation)) < :generation",
        ["generation": .integer(generation.rawValue)])
      counts[table.name] = database.changes
    }
    return counts
  }

  /// Gives new stamps, beginning with `first`, to the pre-images of a table whose stamp is above `limit`. Their order
  /// stays the same.
  ///
  /// Returns the later of `first` and the newest stamp of the table's pre-images.
  public static func restamp(
    _ table: TrackedTable, above limit: Stamp, from first: Stamp, in database: borrowing Database
  ) throws -> Stamp {
    let (before, stamp) = (quoted(table.names.before), quoted(table.names.stamp))
    let row = table.schema.key.map { table.schema.columns[$0] } + [table.names.generation]
    try database.run(
      """
      UPDATE \(before)
      SET \(stamp) = :first + place
      FROM (
        SELECT \(row.enumerated().map { "\(quoted($1)) AS key_\($0)" }.joined(separator: ", ")),
          row_number() OVER (ORDER BY \(stamp)) - 1 AS place
        FROM \(before)
        WHERE \(stamp) > :limit) AS late
      WHERE \(row.enumerated().map { "\(before).\(quoted($1)) = late.key_\($0)" }.joined(separator: " AND "))
      """, ["first": .integer(first.rawValue), "limit": .integer(limit.rawValue)])
    return max(first, Stamp(try database.first("SELECT max(\(stamp)) FROM \(before)") { $0.integer(0) } ?? 0))
  }

  /// The newest stamp of any pre-image in these tables.
  public static func newestStamp(_ tables: [TrackedTable], in database: borrowing Database) throws -> Stamp {
    var newest = Stamp.zero
    for table in tables {
      let stamp = try database.first("SELECT max(\(quoted(table.names.stamp))) FROM \(quoted(table.names.before))") {
        $0.integer(0)
      }
      newest = max(newest, Stamp(stamp ?? 0))
    }
    return newest
  }
}

/// Reads the pre-images of single rows of one table. The statement is prepared once.
public final class PreImageLookup {
  private let table: TrackedTable
  private let statement: Statement

  public init(_ table: TrackedTable, in database: borrowing Database) throws {
    self.table = table
    statement = try database.prepare(table.imagesSQL)
  }

  /// The pre-images of one row, oldest first.
  public func images(of key: RowKey) throws -> [PreImage] {
    defer { statement.reset() }
    try statement.bind(key.values)
    var images: [PreImage] = []
    while try statement.step() { images.append(SavedRow(statement, of: table).image) }
    return images
  }
}

extension TrackedTable {
  private var before: String { quoted(names.before) }
  private var key: [Name] { schema.key.map { schema.columns[$0] } }
  private var controls: [Name] { names.controls }

  var pendingSQL: String {
    """
    SELECT \(quotedList(schema.columns + controls))
    FROM \(before)
    WHERE \(quoted(names.generation)) >= :first
    ORDER BY \(quotedList(key + [names.generation]))
    """
  }

  var changedKeysSQL: String {
    """
    SELECT DISTINCT \(quotedList(key))
    FROM \(before)
    WHERE \(quoted(names.generation)) >= :first
    ORDER BY \(quotedList(key))
    """
  }

  /// A separate statement reads the present row. A join with the pre-images could exceed SQLite's limit of columns.
  var currentSQL: String { "SELECT \(quotedList(schema.columns)) FROM \(quoted(name)) WHERE \(isKeySQL)" }

  var imagesSQL: String {
    """
    SELECT \(quotedList(schema.columns + controls))
    FROM \(before)
    WHERE \(key.map { "\(quoted($0)) = ?" }.joined(separator: " AND "))
    ORDER BY \(quoted(names.generation))
    """
  }

  fileprivate var forgetSQL: String {
    "DELETE FROM \(before) WHERE \(key.map { "\(quoted($0)) = ?" }.joined(separator: " AND "))"
  }

  fileprivate var saveSQL: String {
    let columns = schema.columns + controls
    return "INSERT INTO \(before) (\(quotedList(columns))) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
  }
}
