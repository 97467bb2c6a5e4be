import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues

/// A table of the dataset that is not as the hub has it.
struct LostTable {
  enum State {
    /// The database has no such table.
    case gone
    /// The table has another primary key, so its rows have other names than the hub's rows.
    case otherKey
    /// The table has the hub's primary key, and other columns.
    case otherColumns
  }

  let state: State
  /// Whether an app created the table again.
  let isMadeAnew: Bool
  /// The table as the hub has it.
  private let table: TrackedTable
  /// The columns that the table has on both sides. An app may have renamed a column here.
  private let common: [(here: Name, atHub: Name)]
  /// The columns that only the table here has.
  private let surplus: [Name]
  /// The columns that only the hub's table has.
  private let missing: [Name]

  var name: Name { table.name }

  /// Returns nil if the table is as the hub has it. The order of its columns does not matter.
  init?(_ table: TrackedTable, at hub: borrowing Database, in session: DeviceSession) throws {
    let ours = try session.database.columnDeclarations(of: table.name)
    let theirs = try hub.columnDeclarations(of: table.name)
    let isMadeAnew = try table.isMadeAnew(in: session.database)
    let common = Self.common(ours.map(\.name), theirs.map(\.name), isMadeAnew)
    self.table = table
    self.isMadeAnew = isMadeAnew
    self.common = common
    surplus = ours.map(\.name).filter { name in !common.contains { $0.here == name } }
    missing = theirs.map(\.name).filter { name in !common.contains { $0.atHub == name } }
    let damage = session.damage.filter { $0.table == table.name }.map(\.kind)
    let others = theirs.filter { column in
      !common.contains { pair in
        pair.atHub == column.name && pair.here == column.name
          && ours.contains { $0.name == pair.here && $0.hasSameValues(as: column) }
      }
    }.map(\.name)
    let info = try session.database.tableInfo(table.name)
    if try Self.kind(of: table.name, in: session.database) == nil {
      state = .gone
    } else if try info.map({ $0.isView || $0.isVirtual }) ?? true || damage.contains(.key)
      || !table.hasSameKey(in: session.database) || table.keyColumns.contains(where: others.contains)
    {
      state = .otherKey
    } else if damage.contains(.table) || !others.isEmpty || !surplus.isEmpty {
      state = .otherColumns
    } else {
      return nil
    }
  }

  /// Matches the columns here with the hub's columns. Columns of one name match. In a table that an app altered, a
  /// missing name and a new name in the same position match too. A table that an app created again may have any column
  /// in that position.
  private static func common(
    _ ours: [Name], _ theirs: [Name], _ isMadeAnew: Bool
  ) -> [(here: Name, atHub: Name)] {
    let mapping = ColumnMapping(from: ours, to: theirs)
    return ours.compactMap { name in
      let same = theirs.first { $0.isSameInSQL(as: name) }
      return (same ?? (isMadeAnew ? nil : mapping.current(name))).map { (here: name, atHub: $0) }
    }
  }

  /// `table` or `view`; nil: nothing has this name.
  private static func kind(of name: Name, in database: borrowing Database) throws -> String? {
    try database.first(
      "SELECT type FROM sqlite_schema WHERE name = :name COLLATE NOCASE AND type IN ('table', 'view')",
      ["name": .string(name.text)]
    ) { $0.text(0) }
  }

  /// The temporary table with the rows of the table here. Its columns have no types, so that values stay as they are.
  private var aside: String { "temp.\(quoted("satchel_lost_\(name)"))" }

  /// Drops the table. If its rows return to the table later, copies them into a temporary table first.
  func moveAside(in database: borrowing Database) throws {
    guard let kind = try Self.kind(of: name, in: database) else { return }
    if state == .otherColumns {
      let columns = quotedList(common.map(\.here))
      try database.execute("CREATE TABLE \(aside) (\(columns))")
      try database.execute("INSERT INTO \(aside) SELECT \(columns) FROM main.\(quoted(name))")
    }
    try database.execute("DROP \(kind) main.\(quoted(name))")
  }

  /// Writes the rows into the table as the hub has it. Columns that were missing get the values of the last export, or
  /// else the hub's values. Returns the number of rows that do not fit the table.
  func bringBack(by history: DeviceHistory, _ session: DeviceSession) throws -> Int {
    guard let known = history.known.table(name) else { return 0 }
    let exported = try session.settled(history.sent[name, default: [:]], in: known)
    let target = try RowTable(known.table, in: session.database)
    let places = common.map { known.schema.position(of: $0.atHub) }
    let unknown = missing.compactMap { known.schema.position(of: $0) }
    var unfit = 0
    try session.database.each("SELECT * FROM \(aside)") {
      var row = known.row(of: [])
      for (place, value) in zip(places, $0.values(from: 0, count: places.count)) {
        if let place { row[place] = value }
      }
      let key = known.schema.key(of: row)
      if let former = try exported[key]?.row ?? known.row(key) {
        for place in unknown { row[place] = former[place] }
      }
      do { try target.write(row, over: nil, key: key) } catch let error as SQLiteError
        where [.unique, .constraint].contains(error.kind)
      {
        unfit += 1
      }
    }
    try session.database.execute("DROP TABLE \(aside)")
    return unfit
  }

  /// The changes to the table's columns and rows, in sentences that follow another sentence.
  /// - Parameters:
  ///   - copy: the path of the copy of the database. nil: in a dry run.
  ///   - unfit: the number of rows that do not fit the table as the hub has it.
  ///   - isUnsent: whether rows had changes that the hub is not known to have.
  func words(copy: String?, unfit: Int, isUnsent: Bool) -> String {
    if state == .gone { return "" }
    func list(_ names: [Name]) -> String { names.map(\.text).joined(separator: ", ") }
    var sentences: [String] = []
    if state == .otherColumns {
      let renamed = common.filter { !$0.here.isSameInSQL(as: $0.atHub) }
      sentences += renamed.map { "The column \($0.here) has the name \($0.atHub) again." }
      if !missing.isEmpty { sentences.append("Columns that were missing have their known values: \(list(missing)).") }
      if !surplus.isEmpty { sentences.append("Columns that the hub does not have are gone: \(list(surplus)).") }
      if isUnsent, !missing.isEmpty {
        sentences.append("Changes of the missing columns that no export carries are lost.")
      }
      if unfit > 0 { sentences.append("Rows that do not fit the table, and are only in the copy: \(unfit).") }
    }
    if let copy { sentences.append("As it was, it is kept in \(copy).") }
    if state == .otherKey, isUnsent { sentences.append("Changes that no export carries are only there.") }
    return sentences.map { " \($0)" }.joined()
  }
}

extension ColumnDeclaration {
  /// Whether both columns hold and compare values in the same way.
  fileprivate func hasSameValues(as other: ColumnDeclaration) -> Bool {
    affinity == other.affinity && collation.uppercased() == other.collation.uppercased()
  }
}
