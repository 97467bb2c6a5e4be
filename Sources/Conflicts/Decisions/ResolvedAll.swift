import SatchelValues

/// The result of deciding many conflicts at once.
public struct ResolvedAll: Sendable {
  public var resolved: [ConflictRecord] = []
  /// The conflicts that were not decided, with the reason.
  public var left: [(record: ConflictRecord, why: WorkspaceError)] = []

  public init() {}

  /// The most rounds. A long chain of rows would otherwise take time by the square of its length. A further command
  /// can decide the rest.
  private static let mostRounds = 20

  private typealias Failure = (group: [ConflictUnit], why: WorkspaceError, number: Int)

  /// Decides groups of units, one group after another. If a group fails because of other rows, it is tried again as
  /// long as other groups succeed. An example: the rows of a tree are deleted, the leaves first.
  ///
  /// A group is not tried again if a later group has decided about one of its rows, because the values of the first
  /// group are older.
  /// - Parameter body: decides one group.
  public mutating func decide(_ groups: [[ConflictUnit]], _ body: ([ConflictUnit]) throws -> Void) throws {
    var waiting = groups
    var (number, round) = (0, 0)
    // For each row: the number of the last decision about it.
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
  /// Whether a decision about other rows may remove the reason of this error.
  fileprivate var isAboutOtherRows: Bool { code == .hasChildren || code == .valueTaken }
}

extension [ConflictUnit] {
  /// The units, sorted by the oldest generation of their changes.
  public var oldestFirst: [ConflictUnit] {
    enumerated().sorted { ($0.element.oldest, $0.offset) < ($1.element.oldest, $1.offset) }.map(\.element)
  }
}

extension ConflictUnit {
  fileprivate var oldest: Int64 { members.map(\.record.generation.rawValue).min() ?? 0 }
}
