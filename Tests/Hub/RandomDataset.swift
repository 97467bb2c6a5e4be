import TestSupport

/// A random dataset with rules of every kind, and random writes to its tables. There are few values, so that references
/// often match. Some tables have names that Satchel's own SQL uses too.
struct RandomDataset {
  private(set) var tables: [RandomTable] = []
  private let orphans: String?

  init(_ random: inout SplitMix64) {
    orphans = random.one(of: [nil, "visible", "hidden"])
    for name in ["t0", "numbers", "seen", "t3", "t4"].prefix(2 + random.below(4)) {
      let parents = (0..<random.below(3)).compactMap { _ in tables.isEmpty ? nil : random.one(of: tables) }
      tables.append(RandomTable(name, parents: parents, &random))
    }
    for place in tables.indices where !random.once(in: 3) {
      tables[place].visible = Self.rule(of: tables[place], among: tables, &random)
    }
  }

  var schema: String {
    "CREATE TABLE grants (user TEXT, target, more INTEGER, PRIMARY KEY (user, target));"
      + tables.map(\.schema).joined(separator: ";\n")
  }

  /// The definition as JSON. Child tables may come before their parents.
  var definition: String {
    let rules = tables.reversed().map { "\"\($0.name)\": \($0.rules)" } + ["\"grants\": {}"]
    return """
      { "dataset": "random", "version": 1, "attributes": { "tier": "integer", "word": "text" },
        \(orphans.map { "\"orphans\": \"\($0)\"," } ?? "")
        "tables": { \(rules.joined(separator: ",\n")) } }
      """
  }

  private static func rule(of table: RandomTable, among tables: [RandomTable], _ random: inout SplitMix64) -> String {
    let other = random.one(of: tables).name
    return random.one(of: [
      "tier <= :tier", "tier % 3 <> :tier", "tier IS NOT NULL", "0", "word IS NOT :word", "even",
      "tier IN (SELECT target FROM grants WHERE user = :user)",
      "EXISTS (SELECT 1 FROM grants WHERE grants.user = :user AND grants.target = \(table.name).word) OR tier = 1",
      "(SELECT count(*) FROM \(other)) % 2 = tier % 2",
      "tier + 1 >= (SELECT max(tier) FROM \(other) AS others WHERE others.word = \(table.name).word)",
      "(SELECT count(*) FROM \(table.name) AS others WHERE others.word = \(table.name).word) < 3",
    ])
  }

  /// SQL that deletes rows with NULL in their key, because a hub refuses a database with such rows. Apps may insert
  /// such rows later.
  var deletionOfNameless: String {
    "DELETE FROM grants WHERE user IS NULL OR target IS NULL;"
      + tables.map(\.deletionOfNameless).joined(separator: ";\n")
  }

  /// A random write of an app. SQLite may refuse it.
  func write(_ random: inout SplitMix64) -> String {
    if random.once(in: 12) {
      let user = random.one(of: ["'ann'", "'ben'", "'ann'", "NULL"])
      return random.once(in: 3)
        ? "DELETE FROM grants WHERE target = \(RandomTable.value(&random))"
        : "INSERT OR REPLACE INTO grants VALUES (\(user), \(RandomTable.value(&random)), \(random.below(3)))"
    }
    return random.one(of: tables).write(&random)
  }
}

/// One table of a random dataset. It has a random kind of key, `tier`, `word`, and references.
struct RandomTable {
  let name: String
  var visible: String?
  private let key: [Column]
  private let isWithoutRowid: Bool
  private let references: [Reference]
  private let isIndexed: Bool
  private let parents: String?
  private let orphans: String?

  private struct Column {
    let name: String
    let type: String
  }

  private struct Reference {
    let parent: String
    let columns: [Column]
    let to: [String]
  }

  private static let keys: [[Column]] = [
    [Column(name: "id", type: "INTEGER")], [Column(name: "id", type: "TEXT")],
    [Column(name: "id", type: "TEXT NOT NULL")],
    [Column(name: "id", type: "")], [Column(name: "id", type: "TEXT COLLATE NOCASE")],
    [Column(name: "a", type: "TEXT"), Column(name: "b", type: "INTEGER")],
  ]

  init(_ name: String, parents: [RandomTable], _ random: inout SplitMix64) {
    self.name = name
    key = random.one(of: Self.keys)
    isWithoutRowid = random.once(in: 4)
    isIndexed = !random.once(in: 3)
    var references: [Reference] = []
    let own = RandomTable(name, key: key)
    for parent in parents + (0..<[0, 0, 0, 1, 1, 2][random.below(6)]).map({ _ in own }) {
      let number = references.count
      // Some references do not use the parent's primary key.
      let to =
        random.once(in: 5)
        ? [Column(name: "word", type: "TEXT")] : random.once(in: 4) ? parent.key.reversed() : parent.key
      let columns = to.enumerated().map { place, column in
        // Some referring columns have another type.
        Column(
          name: "r\(number)_\(place)",
          type: random.once(in: parent.name == name ? 3 : 5) ? random.one(of: ["TEXT", "INTEGER", ""]) : column.type)
      }
      references.append(Reference(parent: parent.name, columns: columns, to: to.map(\.name)))
    }
    self.references = references
    let names = Set(references.map(\.parent)).sorted()
    let some = names.filter { _ in !random.once(in: 4) }.map { "\"\($0)\"" }.joined(separator: ", ")
    self.parents = random.one(of: [nil, nil, "[\(some)]", "{ \"any\": [\(some)] }", "{ \"any\": [\(some)] }"])
    orphans = random.one(of: [nil, nil, "visible", "hidden"])
  }

  private init(_ name: String, key: [Column]) {
    self.name = name
    self.key = key
    isWithoutRowid = false
    references = []
    isIndexed = false
    parents = nil
    orphans = nil
  }

  var schema: String {
    let columns =
      key + [Column(name: "tier", type: "INTEGER"), Column(name: "word", type: "TEXT")] + references.flatMap(\.columns)
    var parts = columns.map { "\($0.name) \($0.type)" } + ["even AS (tier % 2)"]
    parts.append("PRIMARY KEY (\(key.map(\.name).joined(separator: ", ")))")
    for reference in references {
      let own = reference.columns.map(\.name).joined(separator: ", ")
      parts.append("FOREIGN KEY (\(own)) REFERENCES \(reference.parent) (\(reference.to.joined(separator: ", ")))")
    }
    let indexes = references.enumerated().filter { _ in isIndexed }.map { number, reference in
      ";\nCREATE INDEX \(name)_\(number) ON \(name) (\(reference.columns.map(\.name).joined(separator: ", ")))"
    }
    let table = "CREATE TABLE \(name) (\(parts.joined(separator: ", ")))"
    return table + (isWithoutRowid ? " WITHOUT ROWID" : "") + indexes.joined()
  }

  var rules: String {
    let members = [
      visible.map { "\"visible\": \"\($0)\"" }, parents.map { "\"parents\": \($0)" },
      orphans.map { "\"orphans\": \"\($0)\"" },
    ].compactMap(\.self)
    return "{ \(members.joined(separator: ", ")) }"
  }

  var deletionOfNameless: String {
    "DELETE FROM \(name) WHERE \(key.map { "\($0.name) IS NULL" }.joined(separator: " OR "))"
  }

  static func value(_ random: inout SplitMix64) -> String {
    random.once(in: 3) ? random.one(of: ["'a'", "'A'", "'b'", "'01'", "'2'"]) : String(1 + random.below(6))
  }

  private static func valueOrNull(_ random: inout SplitMix64) -> String { random.once(in: 5) ? "NULL" : value(&random) }

  func write(_ random: inout SplitMix64) -> String {
    let others = ["tier", "word"] + references.flatMap(\.columns).map(\.name)
    let keyNames = key.map(\.name)
    // Some keys contain NULL, if SQLite allows that.
    let keyValues = key.map { _ in random.once(in: 25) ? "NULL" : Self.value(&random) }
    let isRow = zip(keyNames, keyValues).map { "\($0) IS \($1)" }.joined(separator: " AND ")
    switch random.below(10) {
    case 0..<5:
      let values = keyValues + others.map { _ in Self.valueOrNull(&random) }
      let columns = (keyNames + others).joined(separator: ", ")
      return "INSERT OR REPLACE INTO \(name) (\(columns)) VALUES (\(values.joined(separator: ", ")))"
    case 5..<8: return "UPDATE \(name) SET \(random.one(of: others)) = \(Self.valueOrNull(&random)) WHERE \(isRow)"
    case 8: return "UPDATE OR IGNORE \(name) SET \(keyNames[0]) = \(Self.value(&random)) WHERE \(isRow)"
    default: return "DELETE FROM \(name) WHERE \(isRow)"
    }
  }
}
