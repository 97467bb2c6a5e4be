import SatchelCapture
import SatchelMerge
import SatchelSQLite
import SatchelValues

/// The spans of stamps that were given while this hub's clock was wrong, and that devices have. Most hubs have none.
///
/// The newest of these stamps is ahead of the right clock. Until the right clock reaches it, hub and devices give
/// stamps just above it. These stamps follow what their writer saw, but say nothing about concurrent changes. So a span
/// ends at the newest stamp that was given before the clock reached the end of the span.
extension HubStore {
  /// A row for each span.
  static let doubtfulTimes = """
    CREATE TABLE satchel_doubtful_times (
      first INTEGER PRIMARY KEY, -- the first stamp of the span
      last INTEGER NOT NULL,     -- the last stamp of the span that the hub has seen
      passed INTEGER NOT NULL    -- 1: the clock has reached the last stamp since, so the span grows no more
    )
    """

  /// How far stamps of a span may be above the last stamp that the hub has seen, in milliseconds. A writer that has
  /// seen a stamp writes just above it, so this has room for sixty-five million writes.
  private static let slack: Int64 = 1_000

  /// The stamps that do not show the order of changes.
  func doubtfulTimes() throws -> DoubtfulTimes {
    DoubtfulTimes(
      try database.all("SELECT first, last FROM satchel_doubtful_times WHERE first <= last") {
        let last = Stamp($0.integer(1))
        return Stamp($0.integer(0))...Stamp(milliseconds: last.milliseconds + Self.slack)
      })
  }

  /// Whether the stamps that are given now do not show the order of changes.
  func isNewestInDoubt(at now: Int64) throws -> Bool {
    let newest = try Capture.newestStamp(in: database)
    if newest < Stamp(milliseconds: now) { return false }
    return try newest.milliseconds > now + ClockFault.tolerance || doubtfulTimes().contains(newest)
  }

  /// Records that the stamps from now up to the hub's newest stamp are doubtful, if the newest stamp is far ahead of
  /// the clock. The caller holds a transaction.
  func noteDoubtfulTimes(at now: Int64) throws {
    let newest = try Capture.newestStamp(in: database)
    let present = Stamp(milliseconds: now)
    let isAhead = newest.milliseconds > now + ClockFault.tolerance
    let isOpen = try database.first("SELECT 1 FROM satchel_doubtful_times WHERE passed = 0") { _ in true } ?? false
    // Most hubs have no span.
    guard isAhead || isOpen else { return }
    // The stamps up to the newest one were given before the clock passed the span. A repair may have lowered them.
    try database.run(
      "UPDATE satchel_doubtful_times SET last = :newest WHERE passed = 0 AND last <> :newest",
      ["newest": .integer(newest.rawValue)])
    try database.run("DELETE FROM satchel_doubtful_times WHERE last < first")
    try database.run(
      "UPDATE satchel_doubtful_times SET passed = 1 WHERE passed = 0 AND last < :now",
      ["now": .integer(present.rawValue)])
    guard isAhead else { return }
    // A span that meets this one becomes a part of it.
    let meeting: KeyValuePairs<String, Value> = [
      "first": .integer(present.rawValue), "newest": .integer(newest.rawValue),
    ]
    let spans = try database.all(
      "SELECT first, last, passed FROM satchel_doubtful_times WHERE last >= :first AND first <= :newest", meeting
    ) { (first: $0.integer(0), last: $0.integer(1), isPassed: $0.integer(2) == 1) }
    if spans.contains(where: { !$0.isPassed && $0.first <= present.rawValue && $0.last >= newest.rawValue }) { return }
    try database.run("DELETE FROM satchel_doubtful_times WHERE last >= :first AND first <= :newest", meeting)
    try database.run(
      "INSERT INTO satchel_doubtful_times (first, last, passed) VALUES (:first, :last, 0)",
      [
        "first": .integer(spans.map(\.first).reduce(present.rawValue, min)),
        "last": .integer(spans.map(\.last).reduce(newest.rawValue, max)),
      ])
  }
}
