import SatchelMerge
import SatchelValues

/// Rows on which a user's rights depend, and which the user does not see any more. They are in groups. One group has
/// the rows above one row.
///
/// A group refers to the groups of the rows above, and does not repeat their rows. So a long chain of rows costs only
/// as much as its number of rows.
struct HiddenRows {
  /// A row on which a right depends.
  struct Subject: Hashable {
    let place: Int
    let key: RowKey
    let number: Int64
  }

  /// The index of a group.
  typealias Group = Int

  private struct Content {
    let rows: Set<Subject>
    let above: [Group]
    /// The emissions that showed all rows of this group and of the groups above it. nil if these groups have no rows.
    let shownBy: RowSet?
    /// The earliest time at which the user lost one of these rows. The key is the cursor after which losses count.
    var lost: [Cursor: Stamp] = [:]
  }

  private var groups: [Content] = []

  /// Adds a group.
  /// - Parameter shownBy: returns the emissions that showed a row.
  mutating func add(
    _ rows: Set<Subject>, below above: [Group] = [], shownBy: (Subject) throws -> RowSet
  ) rethrows -> Group {
    let above = above.filter { groups[$0].shownBy != nil }
    let sets = try rows.map(shownBy) + above.compactMap { groups[$0].shownBy }
    let all = sets.dropFirst().reduce(sets.first) { $0?.intersection($1) }
    groups.append(Content(rows: rows, above: above, shownBy: all))
    return groups.count - 1
  }

  /// The emissions that showed all rows of a group and of the groups above it. nil if these groups have no rows.
  func shownBy(_ group: Group) -> RowSet? { groups[group].shownBy }

  /// Returns the earliest time after `cursor` at which the user lost any row of a group or of the groups above it.
  /// - Parameter lostAt: returns the time at which the user lost one row.
  mutating func firstLoss(
    of group: Group, after cursor: Cursor, _ lostAt: (Subject) throws -> Stamp
  ) rethrows -> Stamp {
    // A chain may be of any length, so this is a loop and not a recursion.
    var path = [(group: group, left: groups[group].above)]
    while let last = path.last {
      if let next = last.left.last {
        path[path.count - 1].left.removeLast()
        if groups[next].lost[cursor] == nil { path.append((next, groups[next].above)) }
        continue
      }
      path.removeLast()
      let times =
        try groups[last.group].rows.map(lostAt) + groups[last.group].above.compactMap { groups[$0].lost[cursor] }
      groups[last.group].lost[cursor] = times.min() ?? Stamp(Int64.max)
    }
    return groups[group].lost[cursor] ?? Stamp(Int64.max)
  }
}
