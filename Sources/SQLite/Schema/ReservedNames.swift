import SatchelValues

/// The objects of a schema that have Satchel's own names, and other objects whose SQL contains such a name. A script
/// may change none of these objects.
struct ReservedNames {
  fileprivate static let prefix = Array("satchel_".utf8)

  /// A table, index, trigger or view.
  fileprivate struct Thing: Hashable {
    let type: String
    let name: [UInt8]
    let table: [UInt8]
    let sql: [UInt8]
  }

  /// Tables, indexes, triggers and views with one of Satchel's names, or on a table with such a name.
  private let own: Set<Thing>
  /// Other objects whose SQL contains one of Satchel's names. Their SQL is not kept in this set.
  private let namers: Set<Thing>
  private let version: Int64

  init(in database: borrowing Database) throws {
    version = try database.schemaVersion()
    let things = try Self.things(in: database)
    own = Set(things.filter(\.isOwn))
    namers = Set(things.filter { !$0.isOwn }.map(\.withoutSQL))
  }

  /// Returns how the schema's reserved objects have changed, as the rest of a sentence; nil if they have not changed.
  func fault(in database: borrowing Database) throws -> String? {
    if try database.schemaVersion() == version { return nil }
    let things = try Self.things(in: database)
    let present = Set(things.filter(\.isOwn))
    if let other = present.symmetricDifference(own).min(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
      return "it makes, changes or drops \(other.words), and what begins with satchel_ is Satchel's own"
    }
    guard let namer = things.first(where: { !$0.isOwn && !namers.contains($0.withoutSQL) }) else { return nil }
    return "\(namer.words) names something that begins with satchel_, which is Satchel's own"
  }

  /// Objects with a reserved name, and objects whose SQL contains one.
  private static func things(in database: borrowing Database) throws -> [Thing] {
    try database.all(
      """
      SELECT type, name, tbl_name, sql
      FROM main.sqlite_schema
      WHERE name LIKE 'satchel\\_%' ESCAPE '\\'
        OR tbl_name LIKE 'satchel\\_%' ESCAPE '\\'
        OR sql LIKE '%satchel\\_%' ESCAPE '\\'
      """
    ) { row in
      Thing(
        type: row.text(0), name: Array(row.text(1).utf8), table: Array(row.text(2).utf8),
        sql: Array((row.optionalText(3) ?? "").utf8))
    }.filter { $0.isOwn || $0.namesReserved }
  }
}

extension ReservedNames.Thing {
  fileprivate var isOwn: Bool { [name, table].contains { $0.asciiLowercased.starts(with: ReservedNames.prefix) } }

  /// Whether the object's SQL has a word, or a name or text in quotes, that begins with `satchel_`. Texts count because
  /// SQLite also accepts a text as a name.
  fileprivate var namesReserved: Bool {
    SQLTokens(String(decoding: sql, as: UTF8.self), quotes: .areWords).contains {
      $0.text.starts(with: ReservedNames.prefix)
    }
  }

  fileprivate var withoutSQL: ReservedNames.Thing { .init(type: type, name: name, table: table, sql: []) }

  fileprivate var words: String { "the \(type) \(String(decoding: name, as: UTF8.self))" }
}
