import SatchelSQLite
import TestSupport

/// A random dataset of two to six tables, with parents, trees, links between two tables, assignments, and rules of
/// every kind.
struct RandomDataset {
  /// The visibility rule of a table about its own rows. The rules of the parents apply too.
  enum Rule {
    case all
    /// Rows up to the user's own tier.
    case tier
    /// The user's own rows, and rows of tier 0.
    case owner
    /// Rows at a place where the user has a post.
    case posted
    /// The user's own posts.
    case own
  }

  struct Table {
    let name: String
    let rule: Rule
    var parents: [String] = []
    var isTree = false
    var matchesAny = false
    var isNumbered = false
    var isWithoutRowid = false
    /// Whether `id` identifies the rows. The table then also has an INTEGER PRIMARY KEY, which each hub assigns by
    /// itself.
    var isNamed = false
    var policies = ""
    /// Columns that only some tables have.
    var extras: [String] = []

    /// The columns that refer to other rows, and their parent tables.
    var references: [(column: String, table: String)] {
      zip(["first", "second"], parents).map { ($0, $1) } + (isTree ? [("up", name)] : [])
    }

    var columns: [String] {
      ["id"] + references.map(\.column) + ["tier", "owner", "words"] + extras
    }
  }

  let tables: [Table]

  /// The table with this name. It must exist.
  func table(_ name: String) -> Table { tables.first { $0.name == name }! }

  /// Whether any table, perhaps the table itself, refers to this table.
  func isReferredTo(_ table: Table) -> Bool { tables.contains { $0.references.contains { $0.table == table.name } } }

  /// Whether any row refers to the row with this key.
  func refers(to key: String, of table: Table, in database: borrowing Database) throws -> Bool {
    for other in tables {
      for reference in other.references where reference.table == table.name {
        let sql = "SELECT 1 FROM \(other.name) WHERE \(reference.column) = \(key)"
        let found = try database.all(sql) { _ in true }
        if !found.isEmpty { return true }
      }
    }
    return false
  }

  init(_ random: inout SplitMix64) {
    var areas = Table(name: "areas", rule: random.one(of: [.tier, .owner, .posted]))
    areas.isTree = random.once(in: 3)
    var tables = [areas]
    if random.once(in: 2) {
      var sites = Table(name: "sites", rule: random.one(of: [.all, .tier, .owner]), parents: ["areas"])
      sites.isTree = random.once(in: 4)
      tables.append(sites)
    }
    if random.once(in: 3) { tables.append(Table(name: "items", rule: random.one(of: [.tier, .owner]))) }
    if random.once(in: 3) {
      tables.append(
        Table(name: "notes", rule: random.one(of: [.all, .all, .tier, .owner]), parents: [tables.last!.name]))
    }
    if tables.count > 1, random.once(in: 3) {
      var links = Table(
        name: "links", rule: random.one(of: [.all, .all, .owner]), parents: tables.prefix(2).map(\.name))
      links.matchesAny = random.once(in: 2)
      tables.append(links)
    }
    // There must be a second table. It may refer to this table.
    if tables.count == 1, areas.rule != .posted {
      tables.append(Table(name: "sites", rule: random.one(of: [.all, .tier, .owner]), parents: ["areas"]))
    }
    if areas.rule == .posted { tables.append(Table(name: "posts", rule: .own, parents: [])) }
    // These choices come from a copy of the random generator, so that all other choices stay the same.
    var beside = random
    self.tables = tables.map { table in
      var table = table
      table.isNamed = beside.once(in: 4)
      // A post names its place in a column of texts.
      table.isNumbered = random.once(in: 2) && table.rule != .posted
      table.isWithoutRowid = random.once(in: 4) && !table.isNamed
      let policy = random.one(of: Self.policies)
      table.policies = policy.text
      let others = ["code", "photo", "likes"].filter { !policy.columns.contains($0) && random.once(in: 3) }
      table.extras = policy.columns + others
      return table
    }
  }

  /// Policies, each with the columns that it mentions.
  private static let policies: [(text: String, columns: [String])] = [
    (#""conflict": "manual""#, []), (#""conflict": "manual", "merge": "row""#, []), (#""conflict": "device""#, []),
    (#""conflict": "hub""#, []), (#""conflict": "newest", "columns": { "likes": "sum" }"#, ["likes"]),
    (#""conflict": "manual", "columns": { "likes": "max", "words": "newest" }"#, ["likes"]),
    (#""conflict": "manual", "delete": "soft", "deleted": "gone""#, ["gone"]),
    (#""conflict": "newest", "delete": "never", "write": "owner = :user""#, []),
    (#""write": "tier < 3", "conflict": "device""#, []),
  ]

  var schema: String {
    tables.map { table in
      let references = table.references.map { "\($0.column) REFERENCES \($0.table) (id)" }
      let extras = table.extras.map { $0 == "code" ? "code TEXT UNIQUE" : $0 }
      let lines =
        ["id \(table.isNumbered ? "INTEGER" : "TEXT") \(table.isNamed ? "UNIQUE" : "PRIMARY KEY") NOT NULL"]
        + references
        + ["tier INTEGER NOT NULL", "owner TEXT", "words TEXT"] + extras
        + (table.isNamed ? ["fid INTEGER PRIMARY KEY AUTOINCREMENT"] : [])
      return """
        CREATE TABLE \(table.name) (\(lines.joined(separator: ", ")))\(table.isWithoutRowid ? " WITHOUT ROWID" : "");
        CREATE INDEX \(table.name)_words ON \(table.name) (words) WHERE tier < 5;
        """
    }.joined(separator: "\n")
  }

  var definition: String {
    let all = tables.map { table in
      var members = [table.policies] + (table.isNamed ? [#""key": ["id"]"#] : [])
      switch table.rule {
      case .all: break
      case .tier: members.append(#""visible": "tier <= :tier""#)
      case .owner: members.append(#""visible": "owner = :user OR tier = 0""#)
      case .posted:
        members.append(
          #""visible": "EXISTS (SELECT 1 FROM posts WHERE posts.owner = :user AND posts.words = areas.id)""#)
      case .own: members.append(#""visible": "owner = :user""#)
      }
      if table.matchesAny {
        members.append(#""parents": { "any": [\#(table.parents.map { "\"\($0)\"" }.joined(separator: ", "))] }"#)
      }
      return "\"\(table.name)\": { \(members.joined(separator: ", ")) }"
    }
    return """
      { "dataset": "twins", "version": 1, "attributes": { "tier": "integer" },
        "tables": { \(all.joined(separator: ",\n    ")) } }
      """
  }
}
