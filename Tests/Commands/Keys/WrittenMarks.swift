/// Records the marks that apps write into a column `mark`. At the end, each mark must be in a row or in a conflict. It
/// may be missing only if an app saw it and overwrote it.
struct WrittenMarks {
  private var written: Set<String> = []
  private var seen: Set<String> = []
  private var count = 0

  /// Returns a mark that no write has used yet.
  mutating func next() -> String {
    count += 1
    return "m\(count)"
  }

  /// Records an app's write, by the marks that the database had before and after it.
  mutating func note(before: String, after: String) {
    let (before, after) = (Self.marks(before), Self.marks(after))
    written.formUnion(after.subtracting(before))
    seen.formUnion(before.subtracting(after))
  }

  private static func marks(_ rows: String) -> Set<String> { Set(rows.split(separator: "\n").map(String.init)) }

  /// The marks that are in no row and no conflict, and that no app saw before it overwrote them.
  func lost(in camp: CommandLineFixture, _ databases: [String], tables: [String]) throws -> [String] {
    let kept = try databases.map { database in
      try camp.rows(
        database,
        """
        SELECT coalesce(base_values, '') || coalesce(hub_values, '') || coalesce(device_values, '')
        FROM satchel_conflicts
        """)
    }.joined()
    let rows = try tables.map { try camp.rows(databases[0], "SELECT mark FROM \($0)") }.joined(separator: "\n")
    return written.subtracting(seen).subtracting(Self.marks(rows)).filter { !kept.contains("\"\($0)\"") }.sorted()
  }
}
