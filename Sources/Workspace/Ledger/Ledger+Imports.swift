import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// Reads facts about imported bundles from the ledger.
extension Ledger {
  /// The numbers of the hub's bundles that this device imported.
  public static func importedEmissions(in database: borrowing Database) throws -> Set<Int64> {
    Set(
      try database.all(
        "SELECT number FROM satchel_ledger WHERE direction = 'in' AND kind = 'scope' AND verdict = 'imported'"
      ) { $0.integer(0) })
  }

  /// The digests of the imported bundles from the hub with this number.
  public static func digests(
    ofImported number: EmissionNumber, from hub: String, in database: borrowing Database
  ) throws -> [Digest] {
    try database.all(
      """
      SELECT digest
      FROM satchel_ledger
      WHERE peer = :hub AND kind = 'scope' AND number = :number AND direction = 'in' AND verdict = 'imported'
      """, ["hub": .string(hub), "number": .integer(number.rawValue)]
    ) { $0.optionalText(0).flatMap { Digest(hexadecimal: $0) } }.compactMap(\.self)
  }

  /// The digests with which a bundle with this id was imported or found stale. nil: release 0.1 recorded no digest.
  public static func digests(of bundle: BundleID, in database: borrowing Database) throws -> [String?] {
    try database.all(
      """
      SELECT digest FROM satchel_ledger WHERE direction = 'in' AND bundle = :bundle AND verdict IN ('imported', \
      'stale')
      """,
      ["bundle": .string(bundle.text)]
    ) { $0.optionalText(0) }
  }

  /// The sender's name and the number of an imported export; nil if no such export was imported.
  /// - Parameter digest: the first hexadecimal digits of the export's digest.
  public static func export(
    _ bundle: BundleID, digest: String, in database: borrowing Database
  ) throws -> (sender: String, number: Int64)? {
    try database.first(
      """
      SELECT peer, number
      FROM satchel_ledger
      WHERE bundle = :bundle AND substr(digest, 1, :digits) = :digest
        AND direction = 'in' AND kind = 'changes' AND verdict = 'imported'
      """,
      [
        "bundle": .string(bundle.text), "digits": .integer(Int64(digest.utf8.count)), "digest": .string(digest),
      ]
    ) { ($0.text(0), $0.integer(1)) }
  }

  /// The imported exports whose ledger rows have no `detail`: their files are still kept.
  public static func exports(
    in database: borrowing Database
  ) throws -> [(bundle: BundleID, sender: String?, number: Int64?)] {
    try database.all(
      """
      SELECT DISTINCT bundle, peer, number
      FROM satchel_ledger
      WHERE direction = 'in' AND kind = 'changes' AND verdict = 'imported' AND detail IS NULL
      """
    ) { row in
      BundleID(row.text(0)).map { ($0, row.optionalText(1), row.optionalInteger(2)) }
    }.compactMap(\.self)
  }

  /// The names of the senders of an imported bundle. Two senders may have used the same id, so there may be several.
  public static func senders(of bundle: BundleID, in database: borrowing Database) throws -> [String] {
    try database.all(
      "SELECT DISTINCT peer FROM satchel_ledger WHERE direction = 'in' AND verdict = 'imported' AND bundle = :bundle",
      ["bundle": .string(bundle.text)]
    ) { $0.text(0) }
  }

  /// Returns the imported bundles that fit a name. A person typed the name. Two results mean that the name is
  /// ambiguous.
  /// - Parameter name: SENDER/NUMBER, or the beginning of a bundle's id.
  public static func imported(named name: String, in database: borrowing Database) throws -> [BundleID] {
    let words = name.split(separator: "/")
    let condition = words.count == 2 ? "peer = :peer AND number = :number" : "bundle >= :name AND bundle < :name || 'g'"
    let parameters: KeyValuePairs<String, Value> =
      words.count == 2
      ? ["peer": .string(String(words[0])), "number": .integer(Int64(words[1]) ?? -1)] : ["name": .string(name)]
    return try database.all(
      """
      SELECT DISTINCT bundle
      FROM satchel_ledger
      WHERE direction = 'in' AND verdict = 'imported' AND \(condition)
      LIMIT 2
      """, parameters
    ) { BundleID($0.text(0)) }.compactMap(\.self)
  }

  /// The bundles from a device that were imported at `time` or later, newest first.
  /// - Parameter time: in milliseconds since 1970.
  public static func imported(
    from device: String, since time: Int64, in database: borrowing Database
  ) throws -> [BundleID] {
    try database.all(
      """
      SELECT bundle
      FROM satchel_ledger
      WHERE direction = 'in' AND kind = 'changes' AND verdict = 'imported' AND peer = :peer AND at >= :time
      GROUP BY bundle
      ORDER BY max(number) DESC
      """, ["peer": .string(device), "time": .integer(time)]
    ) { BundleID($0.text(0)) }.compactMap(\.self)
  }

  /// The number of changes in an imported bundle, and the time of its last import in milliseconds since 1970.
  public static func lastImport(
    of bundle: BundleID, in database: borrowing Database
  ) throws -> (changes: Int64, at: Int64)? {
    try database.first(
      """
      SELECT changes, at
      FROM satchel_ledger
      WHERE direction = 'in' AND verdict = 'imported' AND bundle = :bundle
      ORDER BY at DESC
      """, ["bundle": .string(bundle.text)]
    ) { (changes: $0.integer(0), at: $0.integer(1)) }
  }
}
