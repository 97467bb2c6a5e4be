import SatchelValues

/// The result of deciding many conflicts at once.
public struct ResolvedAll: Sendable {
  public var resolved: [ConflictRecord] = []
  /// The conflicts that were skipped, with the reason.
  public var left: [(record: ConflictRecord, why: WorkspaceError)] = []

  public init() {}

  /// How often groups are tried. The rest can be decided by another command, so that a long chain of rows does not take
  /// time by the square of its length.
  private static let mostRounds = 20

  private typealias Failure = (group: [ConflictUnit], why: WorkspaceError, number: Int)

  /// Decides groups of units, one group after another. A group that fails because of other rows is tried again as long
  /// as other groups succeed. For example, the rows of a tree are deleted from the leaves on.
  ///
  /// A group is not tried again if a later group decided about one of its rows: its values are older.
  /// - Parameter body: decides one group.
  public mutating func decide(_ groups: [[ConflictUnit]], _ body: ([ConflictUnit]) throws -> Void) throws {
    var waiting = groups
    var (number, round) = (0, 0)
    // The number of the last decision about each row.
    var decided: [RowInTable: Int] = [:]
    while !waiting.isEmpty {
      round += 1
      var failures: [Failure] = []
      for group in waiting {
        number += 1
        do {
          try body(group)
          for row in group.flatMap(\.members).rows { decided[row] = number }
          resolved += group.map(\.head.record)
        } catch let error as WorkspaceError {
          failures.append((group: group, why: error, number: number))
        }
      }
      let isHopeful = failures.count < waiting.count && round < Self.mostRounds
      waiting = []
      for failure in failures {
        let isLast = failure.group.flatMap(\.members).rows.allSatisfy { decided[$0] ?? 0 < failure.number }
        if isHopeful, isLast, failure.why.isAboutOtherRows {
          waiting.append(failure.group)
        } else {
          left += failure.group.map { (record: $0.head.record, why: failure.why) }
        }
      }
    }
  }
}

extension WorkspaceError {
  /// Whether another decision may end the reason.
  fileprivate var isAboutOtherRows: Bool { code == .hasChildren || code == .valueTaken }
}

extension [ConflictUnit] {
  /// The units in the order in which each device made them.
  public var oldestFirst: [ConflictUnit] {
    enumerated().sorted { ($0.element.oldest, $0.offset) < ($1.element.oldest, $1.offset) }.map(\.element)
  }
}

extension ConflictUnit {
  fileprivate var oldest: Int64 { members.map(\.record.generation.rawValue).min() ?? 0 }
}
