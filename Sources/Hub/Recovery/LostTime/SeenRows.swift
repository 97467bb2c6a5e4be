import SatchelBundle
import SatchelSQLite
import SatchelValues

/// An emission of the lost time, in the order in which all of them are merged.
struct RankedEmission {
  /// The epoch in which the hub made the emission.
  let epoch: Epoch
  /// 0 for the newest emission.
  let rank: Int
  /// The emission, as the conflicts name it.
  let words: String

  /// - Returns: nil if the bundle is no emission.
  init?(_ emission: LostEmission, _ manifest: Manifest, rank: Int) {
    guard case .scope(let scope) = manifest.body else { return nil }
    epoch = scope.epoch
    self.rank = rank
    words = "Known only from bundle \(emission.link.number) for \(manifest.to.name), of the time that this hub lost."
  }
}

/// The rows that the emissions of the lost time show, by the newest emission of each epoch that shows a row.
///
/// The records are in a temporary table, because an emission may show every row of the hub.
struct SeenRows {
  private let store: HubStore

  init(_ store: HubStore) throws {
    self.store = store
    try store.database.execute(
      """
      CREATE TEMP TABLE IF NOT EXISTS satchel_recovered (
        place INTEGER, row INTEGER, epoch TEXT, rank INTEGER, PRIMARY KEY (place, row, epoch)) WITHOUT ROWID;
      DELETE FROM temp.satchel_recovered
      """)
  }

  /// Records that an emission shows a row.
  func note(_ number: Int64, in place: Int, of emission: RankedEmission) throws {
    try store.database.run(
      """
      INSERT INTO temp.satchel_recovered VALUES (:place, :row, :epoch, :rank)
      ON CONFLICT DO UPDATE SET rank = min(rank, excluded.rank)
      """,
      [
        "place": .integer(Int64(place)), "row": .integer(number), "epoch": .string(emission.epoch.text),
        "rank": .integer(Int64(emission.rank)),
      ])
  }

  /// Whether a newer emission of the same epoch shows the row. An emission of a later epoch does not count. The hub
  /// made it without what it lost, so it may show a row that was deleted before.
  func contains(_ number: Int64, in place: Int, laterThan emission: RankedEmission) throws -> Bool {
    try store.database.first(
      """
      SELECT 1 FROM temp.satchel_recovered
      WHERE place = :place AND row = :row AND epoch = :epoch AND rank < :rank
      """,
      [
        "place": .integer(Int64(place)), "row": .integer(number), "epoch": .string(emission.epoch.text),
        "rank": .integer(Int64(emission.rank)),
      ]
    ) { _ in true } ?? false
  }

  func end() throws { try store.database.execute("DROP TABLE temp.satchel_recovered") }
}
