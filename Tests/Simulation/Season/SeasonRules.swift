import TestSupport

/// The dataset of a season, in several versions.
struct SeasonRules {
  private(set) var version = 1
  /// A site is hidden if its zone, divided by this number, leaves the remainder of the user.
  private(set) var modulus: Int64 = 3
  /// The identification of a table's rows: by the PRIMARY KEY, or by another column.
  enum Names { case primaryKey, column }

  private let sites: String
  private let visits: String
  private let late: String
  private var columns = 0
  /// The policy of the table of counters; nil: the dataset has no such table.
  private let counters: String?
  private let brakes: Bool

  /// How a change of the hub and a change of a device are merged.
  private static let policies = [
    #""conflict": "manual""#, #""conflict": "device""#, #""conflict": "hub""#, #""conflict": "newest""#,
    #""conflict": "manual", "merge": "row""#, #""conflict": "newest", "merge": "row""#,
  ]

  /// The policies of the table of counters. The policy of a season depends on its seed alone, so the other rules of a
  /// season stay the same.
  static let counterPolicies = ["manual", "newest", "device", "hub"]

  /// - Parameters:
  ///   - counters: the policy of the table of counters; nil: there is no such table.
  ///   - takesLateWork: whether changes are applied if their user has lost the right since.
  ///   - brakes: whether every bundle that deletes or changes a row waits for a person.
  init(_ random: inout SplitMix64, counters: String?, visits names: Names, takesLateWork: Bool, brakes: Bool) {
    self.counters = counters
    self.brakes = brakes
    late = takesLateWork ? #", "late": "accept""# : ""
    sites = random.one(of: Self.policies)
    visits = (names == .column ? #""key": ["id"], "# : "") + random.one(of: Self.policies)
  }

  private static func counters(_ policy: String) -> String {
    #", "counters": { "conflict": "\#(policy)", "columns": { "n": "sum", "tags": "union" }, "delete": "never" }"#
  }

  private static let brake = #""brake": { "delete": "0%", "change": "0%", "rows": 0 },"#

  /// Whether changes of different columns of one row are a disagreement.
  func mergesWholeRows(of table: String) -> Bool {
    ["sites": sites, "visits": visits][table]?.contains(#""merge": "row""#) ?? false
  }

  var words: String { "sites \(sites), visits \(visits)\(late), counters \(counters ?? "none")" }

  var definition: String {
    """
    { "dataset": "field", "version": \(version), "prove": "always", \(brakes ? Self.brake : "")
      "attributes": { "hidden": "integer" },
      "tables": {
        "sites": { "visible": "zone % \(modulus) <> :hidden", "write": "1", \(sites)\(late) },
        "visits": { "parents": ["sites"], \(visits)\(late) }\(counters.map(Self.counters) ?? "") } }
    """
  }

  /// Goes to the next version. Returns its migration. nil: the tables stay as they are.
  mutating func next(_ random: inout SplitMix64) -> String? {
    version += 1
    if random.once(in: 2) { modulus = 7 - modulus }
    if random.once(in: 3) { return nil }
    columns += 1
    return
      "ALTER TABLE visits ADD COLUMN x\(columns) TEXT DEFAULT 'new'; UPDATE visits SET x\(columns) = a WHERE b IS NULL;"
  }
}
