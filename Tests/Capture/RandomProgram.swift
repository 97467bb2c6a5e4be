import TestSupport

/// A random database, and random writes to it. There are few different values, so that they often collide.
struct RandomProgram {
  enum Action {
    case statement(String, connection: Int)
    /// A Satchel command logs the local writes, if no writer blocks it.
    case settle
    /// A new generation begins between two transactions.
    case begin
  }

  let tables: [String]
  /// The rules of the tables, by table name. Tables without rules are left out.
  let rules: [String: String]
  let setUp: [String]
  /// Statements before capture: rows that SQLite may refuse, and the app's own triggers.
  let attempts: [String]
  let actions: [Action]
  /// Whether the triggers compact Satchel's tables of writes very often.
  let tidiesOften: Bool

  init(seed: UInt64, _ kinds: [RandomTable.Kind]) {
    var random = SplitMix64(seed: seed)
    let tables = (0...random.below(3)).map { RandomTable("t\($0)", kinds, parents: Array(0..<$0), &random) }
    self.tables = tables.map(\.name)
    rules = Dictionary(uniqueKeysWithValues: tables.compactMap { table in table.rules.map { (table.name, $0) } })
    var early: [String] = []
    var late: [Action] = [.statement("PRAGMA journal_mode = \(random.one(of: ["WAL", "DELETE"]))", connection: 0)]
    for trigger in tables.flatMap({ $0.appTriggers(&random) }) {
      if random.once(in: 2) { early.append(trigger) } else { late.append(.statement(trigger, connection: 0)) }
    }
    setUp = tables.flatMap(\.declarations)
    attempts = tables.flatMap { table in (0..<4).map { _ in table.insert("OR IGNORE", &random) } } + early
    for connection in 0...1 {
      for pragma in ["foreign_keys", "recursive_triggers"] {
        late.append(.statement("PRAGMA \(pragma) = \(random.below(2))", connection: connection))
      }
    }
    for _ in 0..<(5 + random.below(25)) { late.append(Self.action(tables, &random)) }
    actions = late
    tidiesOften = random.once(in: 2)
  }

  private static func action(_ tables: [RandomTable], _ random: inout SplitMix64) -> Action {
    let connection = random.once(in: 4) ? 1 : 0
    switch random.below(26) {
    case 0: return .begin
    case 5: return random.once(in: 2) ? .settle : .statement("VACUUM", connection: connection)
    case 6:
      return .statement(
        "PRAGMA \(random.one(of: ["foreign_keys", "recursive_triggers"])) = \(random.below(2))", connection: connection)
    case 1, 2: return .statement("BEGIN", connection: connection)
    case 3: return .statement(random.one(of: ["SAVEPOINT s", "ROLLBACK TO s", "RELEASE s"]), connection: connection)
    case 4: return .statement(random.one(of: ["COMMIT", "COMMIT", "ROLLBACK"]), connection: connection)
    default: return .statement(random.one(of: tables).write(&random), connection: connection)
    }
  }

  /// The whole program as text, so that a person can run it.
  var text: String {
    let lines = actions.map { action in
      switch action {
      case .settle: "-- the writes are sorted in"
      case .begin: "-- a new generation"
      case .statement(let sql, 0): sql + ";"
      case .statement(let sql, let connection): sql + "; -- connection \(connection)"
      }
    }
    return
      ((setUp + attempts).map { $0 + ";" } + [
        "-- capture is installed" + (tidiesOften ? ", and tidies up all the time" : "")
      ]
      + lines).joined(separator: "\n")
  }
}

/// One table of a random program.
struct RandomTable {
  let name: String
  private let key: [String]
  private let madeKey: Bool
  private let hasRowid: Bool
  private let indexes: [String]
  private let declaration: String
  let rules: String?

  /// The key of a table's rows. In `columns`, constraints of the table come after all columns. They begin with `,
  /// PRIMARY KEY` or `, UNIQUE`.
  typealias Kind = (columns: String, key: [String], made: Bool, rowid: Bool, options: String)

  static let primaryKeys: [Kind] = [
    ("k INTEGER PRIMARY KEY", ["k"], true, false, ""),
    ("k INTEGER PRIMARY KEY AUTOINCREMENT", ["k"], true, false, ""),
    ("k INTEGER PRIMARY KEY DESC", ["k"], false, true, ""),
    ("k TEXT PRIMARY KEY", ["k"], false, true, ""),
    ("k TEXT PRIMARY KEY", ["k"], false, false, "WITHOUT ROWID"),
    ("k PRIMARY KEY", ["k"], false, true, ""),
    ("k REAL PRIMARY KEY", ["k"], false, false, "WITHOUT ROWID"),
    ("k TEXT COLLATE NOCASE PRIMARY KEY", ["k"], false, true, ""),
    ("k TEXT NOT NULL DEFAULT a PRIMARY KEY ON CONFLICT REPLACE", ["k"], false, true, ""),
    ("k TEXT, k2 INT, PRIMARY KEY (k2, k)", ["k", "k2"], false, true, ""),
    ("k COLLATE NOCASE, k2, PRIMARY KEY (k, k2 DESC)", ["k", "k2"], false, false, "WITHOUT ROWID"),
    ("k ANY PRIMARY KEY", ["k"], false, true, "STRICT"),
  ]

  /// Keys of tables in which other columns than the PRIMARY KEY, for example `fid`, identify the rows.
  static let namedKeys: [Kind] = [
    ("fid INTEGER PRIMARY KEY, k TEXT NOT NULL UNIQUE", ["k"], false, true, ""),
    ("k TEXT NOT NULL UNIQUE, fid INTEGER PRIMARY KEY AUTOINCREMENT", ["k"], false, true, ""),
    ("fid INTEGER PRIMARY KEY, k NOT NULL DEFAULT a UNIQUE ON CONFLICT REPLACE", ["k"], true, true, ""),
    ("k TEXT COLLATE NOCASE NOT NULL UNIQUE, fid INTEGER PRIMARY KEY NOT NULL", ["k"], false, true, ""),
    ("fid INTEGER PRIMARY KEY, k TEXT NOT NULL, k2 INT NOT NULL, UNIQUE (k2, k)", ["k", "k2"], false, true, ""),
    ("k INT NOT NULL UNIQUE", ["k"], false, true, ""),
    ("n TEXT DEFAULT n PRIMARY KEY, k REAL NOT NULL UNIQUE", ["k"], false, false, "WITHOUT ROWID"),
    ("fid INTEGER PRIMARY KEY, k ANY NOT NULL UNIQUE", ["k"], false, true, "STRICT"),
  ]

  init(_ name: String, _ kinds: [Kind], parents: [Int], _ random: inout SplitMix64) {
    self.name = name
    let kind = random.one(of: kinds)
    key = kind.key
    rules = kind.columns.contains("UNIQUE") ? #"{ "key": ["\#(kind.key.joined(separator: #"", ""#))"] }"# : nil
    madeKey = kind.made
    hasRowid = kind.rowid
    var columns = [kind.columns]
    let isStrict = kind.options == "STRICT"
    func column(_ declarations: [String]) -> String { isStrict ? "ANY" : random.one(of: declarations) }
    let constraint = [", PRIMARY KEY", ", UNIQUE"].first { kind.columns.contains($0) }
    var own = ["a \(column(["", "TEXT", "INTEGER", "NOT NULL DEFAULT 1", "REAL"]))"]
    own.append("b \(column(["", "TEXT COLLATE NOCASE", "NUMERIC", "TEXT NOT NULL DEFAULT 'b'"]))")
    let parent = random.once(in: 3) ? name : parents.isEmpty ? nil : "t\(random.one(of: parents))"
    let action = random.one(of: ["CASCADE", "SET NULL", "SET DEFAULT", "NO ACTION", "RESTRICT"])
    let update = random.one(of: ["CASCADE", "SET NULL", "NO ACTION"])
    own.append(
      "p \(isStrict ? "ANY" : "")"
        + (parent.map { " REFERENCES \($0) (k) ON DELETE \(action) ON UPDATE \(update)" } ?? ""))
    let generated = isStrict ? "ANY" : ""
    own.append(random.one(of: ["g \(generated) AS (a || b) STORED", "g \(generated) AS (p) VIRTUAL"]))
    // In SQL, constraints of the table must come after all columns.
    if let constraint {
      let parts = kind.columns.components(of: constraint)
      columns = [parts[0]] + own + [constraint.dropFirst(2) + parts[1]]
    } else {
      columns += own
    }
    let clause = random.one(of: ["", "", " ON CONFLICT REPLACE", " ON CONFLICT IGNORE"])
    columns += random.one(of: [
      [], ["UNIQUE (a)\(clause)"], ["UNIQUE (a, b)\(clause)"], ["UNIQUE (b)", "UNIQUE (p, a)"],
    ])
    declaration = "CREATE TABLE \(name) (\(columns.joined(separator: ", "))) \(kind.options)"
    var indexes: [String] = []
    // A column to which other tables refer must be unique.
    if kind.key.count > 1 { indexes.append("CREATE UNIQUE INDEX \(name)_k ON \(name) (k)") }
    if random.once(in: 4) { indexes.append("CREATE UNIQUE INDEX \(name)_i ON \(name) (b COLLATE NOCASE)") }
    if random.once(in: 4) { indexes.append("CREATE UNIQUE INDEX \(name)_j ON \(name) (p) WHERE \(name).a > 1") }
    if random.once(in: 4) { indexes.append("CREATE UNIQUE INDEX \(name)_e ON \(name) (upper(b) || coalesce(a, 0))") }
    if random.once(in: 4) { indexes.append("CREATE UNIQUE INDEX \(name)_g ON \(name) (g)") }
    self.indexes = indexes
  }

  var declarations: [String] { [declaration] + indexes }

  func appTriggers(_ random: inout SplitMix64) -> [String] {
    var triggers: [String] = []
    if random.once(in: 4) {
      triggers.append(
        """
        CREATE TRIGGER \(name)_x AFTER INSERT ON \(name) BEGIN UPDATE OR IGNORE \(name) SET a = 4 WHERE k IS NEW.k; \
        END
        """
      )
    }
    if random.once(in: 4) {
      triggers.append(
        """
        CREATE TRIGGER \(name)_y AFTER UPDATE OF b ON \(name) BEGIN UPDATE OR REPLACE \(name) SET a = 3 WHERE k IS \
        NEW.k; END
        """
      )
    }
    if random.once(in: 6) {
      triggers.append(
        "CREATE TRIGGER \(name)_z AFTER DELETE ON \(name) BEGIN DELETE FROM \(name) WHERE a IS OLD.b; END")
    }
    if random.once(in: 6) {
      triggers.append(
        """
        CREATE TRIGGER \(name)_v BEFORE INSERT ON \(name) WHEN NEW.b IS NOT 'v' BEGIN INSERT OR IGNORE INTO \(name) \
        (b) VALUES ('v'); END
        """
      )
    }
    if random.once(in: 12) {
      triggers.append(
        """
        CREATE TRIGGER \(name)_w BEFORE INSERT ON \(name) BEGIN DELETE FROM \(name) WHERE k = (SELECT max(k) FROM \
        \(name)); END
        """
      )
    }
    return triggers
  }

  private func place(_ random: inout SplitMix64) -> String {
    random.one(of: ["1", "2", "-1", "NULL"])
  }

  private func value(_ random: inout SplitMix64) -> String {
    random.one(of: [
      "1", "2", "3", "-1", "1.0", "2.5", "-0.0", "0.0", "'a'", "'A'", "'b'", "'1'", "NULL", "x'61'",
      "CAST(x'ff' AS TEXT)",
    ])
  }

  private func clause(_ random: inout SplitMix64) -> String {
    random.one(of: ["", "", "OR REPLACE", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ABORT", "OR ROLLBACK"])
  }

  func insert(_ clause: String, _ random: inout SplitMix64) -> String {
    var columns = key + ["a", "b", "p"]
    if madeKey, random.once(in: 2) { columns.removeFirst() }
    if random.once(in: 4) { columns.removeLast() }
    if hasRowid, random.once(in: 3) { columns.append("rowid") }
    let rows = (0...random.below(2)).map { _ in
      "("
        + columns.map { $0 == "rowid" ? place(&random) : value(&random) }.joined(separator: ", ")
        + ")"
    }
    return "INSERT \(clause) INTO \(name) (\(columns.joined(separator: ", "))) VALUES \(rows.joined(separator: ", "))"
  }

  private func condition(_ random: inout SplitMix64) -> String {
    random.once(in: 6)
      ? "1" : "\(random.one(of: ["k", "a", "b", "p"])) \(random.one(of: ["IS", "=", ">", "<>"])) \(value(&random))"
  }

  func write(_ random: inout SplitMix64) -> String {
    let clause = clause(&random)
    let column = random.one(of: key + ["a", "b", "p", "a", "b"])
    switch random.below(12) {
    case 0...3: return insert(clause, &random)
    case 4: return insert("", &random) + " ON CONFLICT DO UPDATE SET \(column) = \(value(&random))"
    case 5: return insert(clause, &random) + " ON CONFLICT DO NOTHING"
    case 6:
      return
        """
        INSERT \(clause) INTO \(name) (\(key.joined(separator: ", ")), a, b) SELECT \
        \(random.one(of: ["b", "a", "k", "p"]))\(key.count > 1 ? ", a" : ""), p, a FROM \(name)
        """
    case 7: return "DELETE FROM \(name) WHERE \(condition(&random))"
    case 8:
      let expression = random.one(of: [
        "-k", "k + 1", "upper(k)", "lower(k)", "a", "CASE k WHEN 1 THEN 2 ELSE 1 END", "k || b",
      ])
      return "UPDATE \(clause) \(name) SET k = \(expression) WHERE \(condition(&random))"
    case 9 where hasRowid:
      return
        """
        UPDATE \(clause) \(name) SET rowid = \(random.one(of: ["rowid + 1", "1", "-rowid"])) WHERE \
        \(condition(&random))
        """
    case 9:
      return
        "UPDATE \(clause) \(name) SET a = s.column2 FROM (VALUES (1, 2), ('a', 'b')) AS s WHERE s.column1 = \(name).k"
    default:
      return
        "UPDATE \(clause) \(name) SET \(column) = \(value(&random)), b = \(value(&random)) WHERE \(condition(&random))"
    }
  }
}

extension String {
  fileprivate func components(of separator: String) -> [String] {
    guard let range = firstRange(of: separator) else { return [self] }
    return [String(self[..<range.lowerBound]), String(self[range.upperBound...])]
  }
}
