import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// An emission of the lost time, with its place in the order of the merge.
struct RankedEmission {
  /// The epoch in which the hub made the emission.
  let epoch: Epoch
  /// Whether the hub's present files were once in that epoch. If not, the hub lost the whole epoch.
  let isOfFiles: Bool
  /// The emission's place by age: 0 for the newest emission.
  let rank: Int
  let stamp: Stamp
  /// The end of the second in which the hub made the emission, in milliseconds since 1970. nil if the manifest has no
  /// readable time.
  let made: Int64?
  /// The version of the dataset.
  let version: Int64
  /// The user whose rows the emission shows.
  let user: String
  /// The text with which conflicts name the emission.
  let words: String
  /// The cursor up to which the emission certainly contained the changes in this hub's log.
  let common: Cursor

  init(
    _ emission: LostEmission, _ manifest: Manifest, _ epoch: Epoch, rank: Int, isOfFiles: Bool, common: Cursor
  ) {
    (self.epoch, self.rank, self.isOfFiles, self.common) = (epoch, rank, isOfFiles, common)
    (stamp, made) = (manifest.stamp, UTCTime.milliseconds(of: manifest.created).map { $0 + 999 })
    (version, user) = (manifest.version, manifest.user)
    words = "Known only from bundle \(emission.link.number) for \(manifest.to.name), of the time that this hub lost."
  }
}

/// Records for each row and epoch: the newest and the oldest emission of the lost time that show the row.
///
/// The records are in a temporary table, because one emission may show every row of the hub.
struct SeenRows {
  private let store: HubStore

  init(_ store: HubStore) throws {
    self.store = store
    try store.database.execute(
      """
      CREATE TEMP TABLE IF NOT EXISTS satchel_recovered (
        place INTEGER, row INTEGER, epoch TEXT, rank INTEGER, oldest INTEGER, PRIMARY KEY (place, row, epoch)
      ) WITHOUT ROWID;
      DELETE FROM temp.satchel_recovered
      """)
  }

  /// Records that an emission shows a row.
  func note(_ number: Int64, in place: Int, of emission: RankedEmission) throws {
    try store.database.run(
      """
      INSERT INTO temp.satchel_recovered VALUES (:place, :row, :epoch, :rank, :rank)
      ON CONFLICT DO UPDATE SET rank = min(rank, excluded.rank), oldest = max(oldest, excluded.rank)
      """,
      [
        "place": .integer(Int64(place)), "row": .integer(number), "epoch": .string(emission.epoch.text),
        "rank": .integer(Int64(emission.rank)),
      ])
  }

  /// Whether a newer emission of the same epoch shows the row. Emissions of later epochs do not count, because the hub
  /// made them without the lost changes. They may show a row that was deleted in the lost time.
  func contains(_ number: Int64, in place: Int, laterThan emission: RankedEmission) throws -> Bool {
    try find(number, in: place, emission, "rank < :rank")
  }

  /// Whether this emission, or a newer emission of the same epoch, shows the row.
  func contains(_ number: Int64, in place: Int, notBefore emission: RankedEmission) throws -> Bool {
    try find(number, in: place, emission, "rank <= :rank")
  }

  /// Whether an older emission of the same epoch shows the row.
  func contains(_ number: Int64, in place: Int, before emission: RankedEmission) throws -> Bool {
    try find(number, in: place, emission, "oldest > :rank")
  }

  private func find(
    _ number: Int64, in place: Int, _ emission: RankedEmission, _ condition: String
  ) throws -> Bool {
    try store.database.first(
      """
      SELECT 1 FROM temp.satchel_recovered
      WHERE place = :place AND row = :row AND epoch = :epoch AND \(condition)
      """,
      [
        "place": .integer(Int64(place)), "row": .integer(number), "epoch": .string(emission.epoch.text),
        "rank": .integer(Int64(emission.rank)),
      ]
    ) { _ in true } ?? false
  }

  func end() throws { try store.database.execute("DROP TABLE temp.satchel_recovered") }
}
