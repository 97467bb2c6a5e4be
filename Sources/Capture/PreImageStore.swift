import SatchelSQLite
import SatchelValues

/// The pre-images of one database's tracked tables, and the steps that follow from them.
public enum PreImageStore {
  /// Calls `body` for each row that has pre-images of generation `first` or later: its pre-images, oldest first, and the row as it
  /// is now. Rows come in the order of their keys.
  public static func each(
    _ table: TrackedTable, since first: Generation, in database: borrowing Database,
    _ body: (RowKey, [PreImage], Row?) throws -> Void
  ) throws {
    let count = table.schema.columns.count
    var key: RowKey?
    var images: [PreImage] = []
    var current: Row?
    try database.each(table.pendingSQL, ["first": .integer(first.rawValue)]) { statement in
      let thisKey = RowKey(table.schema.key.map { statement.value($0) })
      if thisKey != key {
        if let key { try body(key, images, current) }
        key = thisKey
        images = []
        current = statement.isNull(count + 3) ? nil : Row(statement.values(from: count + 4, count: count))
        // The column's collation found the row; only the same bytes are the same key.
        if let found = current, table.schema.key(of: found) != thisKey { current = nil }
      }
      images.append(image(statement, count))
    }
    if let key { try body(key, images, current) }
  }

  /// Every step since generation `first`, in an order in which they can be applied: by generation, rows that go before rows that
  /// come, children going before their parents, parents coming before their children.
  public static func steps(_ tables: [TrackedTable], since first: Generation, in database: borrowing Database) throws -> [Step] {
    var leaving: [Step] = []
    var staying: [Step] = []
    for table in tables {
      var gone: [Step] = []
      try each(table, since: first, in: database) { key, images, current in
        for (image, change) in changes(from: images, to: current) {
          let step = Step(table: table.name, key: key, generation: image.generation, stamp: image.stamp, change: change)
          if case .delete = change { gone.append(step) } else { staying.append(step) }
        }
      }
      leaving.insert(contentsOf: gone, at: 0)
    }
    let ordered = leaving + staying
    let generations = Set(ordered.map(\.generation)).sorted()
    return generations.flatMap { generation in ordered.filter { $0.generation == generation } }
  }

  /// The pre-images of one row, oldest first.
  public static func images(of key: RowKey, in table: TrackedTable, database: borrowing Database) throws -> [PreImage] {
    let count = table.schema.columns.count
    return try database.using(table.imagesSQL) { statement in
      try statement.bind(key.values)
      var images: [PreImage] = []
      while try statement.step() { images.append(image(statement, count)) }
      return images
    }
  }

  /// The pre-image in a statement's row: the columns, then generation, existed and stamp.
  private static func image(_ statement: borrowing Statement, _ count: Int) -> PreImage {
    let existed = statement.integer(count + 1) != 0
    return PreImage(
      generation: Generation(statement.integer(count)), stamp: Stamp(statement.integer(count + 2)),
      row: existed ? Row(statement.values(from: 0, count: count)) : nil)
  }

  /// Puts other pre-images in the place of a row's own.
  public static func replace(_ images: [PreImage], of key: RowKey, in table: TrackedTable, database: borrowing Database) throws {
    try database.using(table.forgetSQL) { try $0.run(key.values) }
    for image in images {
      var values = image.row?.values ?? table.schema.columns.map { _ in .null }
      for (place, column) in table.schema.key.enumerated() { values[column] = key.values[place] }
      values += [.integer(image.generation.rawValue), .integer(image.row == nil ? 0 : 1), .integer(image.stamp.rawValue)]
      try database.using(table.saveSQL) { try $0.run(values) }
    }
  }

  /// Deletes the pre-images of generations below `generation`, and no other.
  public static func forget(before generation: Generation, _ tables: [TrackedTable], in database: borrowing Database) throws {
    for table in tables {
      try database.run(
        "DELETE FROM \(quoted(table.names.before)) WHERE \(quoted(table.names.generation)) < :generation",
        ["generation": .integer(generation.rawValue)])
    }
  }

  /// The newest stamp that any trigger gave.
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

extension TrackedTable {
  private var before: String { quoted(names.before) }
  private var key: [Name] { schema.key.map { schema.columns[$0] } }
  private var controls: [Name] { [names.generation, names.existed, names.stamp] }

  /// The saved columns, generation, existed, stamp, whether the row is there now, and its columns.
  fileprivate var pendingSQL: String {
    let table = quoted(name)
    return """
      SELECT \(quotedList(schema.columns + controls, prefix: before + ".")),
        \(table).\(quoted(key[0])), \(quotedList(schema.columns, prefix: table + "."))
      FROM \(before)
      LEFT JOIN \(table) ON \(key.map { "\(table).\(quoted($0)) = \(before).\(quoted($0))" }.joined(separator: " AND "))
        AND \(key.map { "\(table).\(quoted($0)) = \(before).\(quoted($0)) COLLATE BINARY" }.joined(separator: " AND "))
      WHERE \(before).\(quoted(names.generation)) >= :first
      ORDER BY \(quotedList(key + [names.generation], prefix: before + "."))
      """
  }

  fileprivate var imagesSQL: String {
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
