import SatchelRows
import SatchelValues

/// Rows that wait for one another in a circle, such as rows that trade UNIQUE values.
///
/// A circle is merged as a whole or not at all. If one circle cannot be merged, the other circles still are.
extension StepMerger {
  /// Merges the waiting rows that wait for one another: all at once if possible, or else each circle alone.
  /// - Parameter groups: groups of steps that are merged together or not at all. Merged groups leave the list.
  func takeCircles(besides groups: inout [StepGroup]) throws {
    if order.isEmpty { return }
    if try !takeTogether(order) {
      for circle in try circles(besides: groups) { try take(circle) }
    }
    order.removeAll { waiting[$0] == nil }
    groups.removeAll { group in group.items.allSatisfy { item in waiting[item.row] == nil } }
  }

  /// Merges the rows of one circle. A row that is in no circle may have waited for a circle that is merged by now.
  private func take(_ circle: [RowReference]) throws {
    if circle.count == 1 { try drain(circle[0]) }
    if circle.contains(where: { waiting[$0] != nil }) { _ = try takeTogether(circle) }
  }

  /// Returns the waiting rows in circles. A circle comes after the circles for which it waits. A row that is in no
  /// circle forms a circle alone.
  ///
  /// Each row is compared only with the rows that hold its new values now. So the cost grows with the number of rows.
  private func circles(besides groups: [StepGroup]) throws -> [[RowReference]] {
    let outcomes = try order.map { try outcome(of: $0) }
    let numbers = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: min)
    var awaited = try eventsAwaited(by: outcomes.map { $0?.change })
    for (number, row) in order.enumerated() {
      guard let outcome = outcomes[number], outcome.change != nil, let after = outcome.after else { continue }
      // SQLite finds the rows that hold these values, even in indexes over expressions.
      let rivals = try store.rows[row.place].rivals(of: after, in: store.database)
      awaited[number] += rivals.compactMap { numbers[RowReference(place: row.place, key: $0)] }
    }
    // The rows of a group wait for one another, because they are merged together or not at all.
    for group in groups {
      let members = group.rows.compactMap { numbers[$0] }
      for (member, next) in zip(members, members.dropFirst() + members.prefix(1)) { awaited[member].append(next) }
    }
    return WaitingCircles(awaited).groups
      .map { group in group.filter { $0 < order.count }.map { order[$0] } }
      .filter { !$0.isEmpty }
  }

  /// Returns the graph of the waiting rows by their references and UNIQUE values, as `WaitingOrder` makes it.
  /// - Parameter changes: the change of each waiting row. nil if the row does not change.
  private func eventsAwaited(by changes: [Change?]) throws -> [[Int]] {
    let items = zip(order, changes).map { row, change in
      WaitingOrder.Item(parts: change.map { [WaitingOrder.Part(place: row.place, key: row.key, change: $0)] } ?? [])
    }
    // Rows of any table may refer to a deleted row, so all tables count.
    let order = WaitingOrder(store.tables) { knownComparisons(along: $0) }
    return try order.graph(items) { try store.rows[$0].row($1) }
  }
}
