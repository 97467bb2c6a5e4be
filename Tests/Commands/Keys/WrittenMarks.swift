/// Every mark that an app wrote into a table's column `mark` is in a row at the end, or in a conflict, or an app that
/// saw it wrote over it.
struct WrittenMarks {
  private var written: Set<String> = []
  private var seen: Set<String> = []
  private var count = 0

  /// A mark that no write has had.
  mutating func next() -> String {
    count += 1
    return "m\(count)"
  }

  /// Records the marks of a database before and after an app's write.
  mutating func note(before: String, after: String) {
    let (before, after) = (Self.marks(before), Self.marks(after))
    written.formUnion(after.subtracting(before))
    seen.formUnion(before.subtracting(after))
  }

  private static func marks(_ rows: String) -> Set<String> { Set(rows.split(separator: "\n").map(String.init)) }

  /// The marks that are lost.
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
