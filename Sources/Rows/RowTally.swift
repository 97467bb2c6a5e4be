import SatchelValues

/// The numbers of rows that an import wrote, by table and kind of write.
public struct RowTally: Sendable {
  public struct Counts: Sendable {
    public var inserted = 0
    public var updated = 0
    public var deleted = 0
  }

  /// The most disagreements that the report of a dry run lists.
  public static let mostShown = 100

  /// In the order in which the tables were first counted.
  public private(set) var tables: [(table: Name, counts: Counts)] = []

  public init() {}

  public mutating func add(_ change: Change, in table: Name) {
    let place = tables.firstIndex { $0.table == table } ?? tables.count
    if place == tables.count { tables.append((table, Counts())) }
    switch change {
    case .insert: tables[place].counts.inserted += 1
    case .update: tables[place].counts.updated += 1
    case .delete: tables[place].counts.deleted += 1
    }
  }
}
