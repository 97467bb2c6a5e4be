import SatchelSQLite
import SatchelValues

/// Updates a user's visible rows from an earlier result and the later changes. The cost grows with the number of
/// changes.
extension ScopeStore {
  /// Returns the numbers of the rows that the user may see, one set for each table.
  ///
  /// A row is evaluated again if a value that its rule reads changed, or if the visibility of a row above it changed.
  /// If a rule reads other rows of a table, and that table changed, all rows of the rule's table are evaluated again.
  /// - Parameters:
  ///   - before: the visible rows at an earlier time with the same `basis`.
  ///   - changed: the rows written since that time, for each table.
  func visible(after before: [RowSet], changed: [ChangedRows]) throws -> [RowSet] {
    let links = try links
    var now = before
    for place in links.order {
      // The closure returns the rows whose visibility changed in a table above.
      let found = try rowsToRecheck(place, links, changed) { before[$0].symmetricDifference(now[$0]) }
      switch found {
      case .all: now[place] = try visible(in: place, below: now)
      case .rows(let rows): try recheck(rows, in: place, &now[place])
      }
    }
    return now
  }

  /// Returns the numbers of the rows that the user may see, one set for each table. Evaluates all rows, parents before
  /// children.
  func visibleFromAbove() throws -> [RowSet] {
    var now = store.tables.map { _ in RowSet() }
    for place in try links.order { now[place] = try visible(in: place, below: now) }
    return now
  }

  /// Returns the visible rows of a table. If the user sees few rows of a parent table, only two groups of rows are
  /// read. These are rows that refer to these parents, and rows without this reference. No other row can be visible. If
  /// rows without a parent are hidden and the table has no other reference, only the first group is read.
  /// - Parameter now: the visible rows of the tables above.
  private func visible(in place: Int, below now: [RowSet]) throws -> RowSet {
    guard let link = try narrowestLink(place, now), let children = link.children else { return try visible(in: place) }
    var rows = RowSet()
    if try !isNeverSeenWithoutParent(place) { try store.database.each(link.orphans) { rows.insert($0.integer(0)) } }
    try insertRows(referringTo: now[link.parent], by: children, into: &rows)
    if isSeenWithParent(place) { return rows }
    var seen = RowSet()
    for number in rows where try maySee(number, in: place) { seen.insert(number) }
    return seen
  }

  /// Whether rows without the table's only reference are hidden.
  private func isNeverSeenWithoutParent(_ place: Int) throws -> Bool {
    try rules.hidesOrphans(store.tables[place]) && links.links[place].count == 1
  }

  /// Whether all rows that a link finds are visible without a further condition. They then need no evaluation, which
  /// would take ten times as long.
  private func isSeenWithParent(_ place: Int) -> Bool {
    let table = store.tables[place]
    guard table.rules.visible == nil else { return false }
    let conditions = rules.conditions(of: table).filter { $0.subject != .row }
    guard conditions.count == 1, case .parents(let references, _) = conditions[0].subject else { return false }
    return references.count == 1
  }

  private func narrowestLink(_ place: Int, _ now: [RowSet]) throws -> ScopeLinks.Link? {
    let above = try links.links[place].filter { $0.parent != place }
    // One visible parent of several is enough here. So the rows below one parent table are not all visible rows.
    if above.count > 1, store.tables[place].rules.parentsMatch == .any { return nil }
    let narrow = above.filter { $0.children != nil && now[$0.parent].count <= Self.mostFollowed }
    guard let link = narrow.min(by: { now[$0.parent].count < now[$1.parent].count }) else { return nil }
    return try now[link.parent].count * 4 < store.numbers[link.parent].count(in: store.database) ? link : nil
  }

  private enum Doubt {
    case all
    case rows(RowSet)
  }

  /// The greatest number of rows whose children are looked up. Above it, the evaluation of all rows costs no more.
  private static let mostFollowed = 20_000
  /// The greatest number of generations of a tree that are evaluated one by one. With more generations, all rows of the
  /// tree are evaluated at once, because each generation may cost a full read of the table.
  private static let mostGenerations = 100
  /// Up to this number of rows, single evaluations are always cheap.
  private static let fewRows = 2_000

  private func rowsToRecheck(_ place: Int, _ links: ScopeLinks, _ changed: [ChangedRows], moved: (Int) -> RowSet) throws
    -> Doubt
  {
    if links.reads[place].contains(where: { !changed[$0].all.isEmpty }) { return .all }
    var rows = changed[place].decisive
    for link in links.links[place] where link.parent != place {
      guard let children = link.children else {
        // A changed row above may have another value in the columns to which other rows refer.
        if !changed[link.parent].all.isEmpty || !moved(link.parent).isEmpty { return .all }
        continue
      }
      let above = moved(link.parent)
      if above.count > Self.mostFollowed { return .all }
      try insertRows(referringTo: above, by: children, into: &rows)
    }
    let hasLostBranches = links.links[place].contains { $0.parent == place && $0.children == nil }
    if hasLostBranches, !changed[place].all.isEmpty || !rows.isEmpty { return .all }
    let isMost = try rows.count > Self.fewRows && rows.count > store.numbers[place].count(in: store.database) / 4
    return isMost ? .all : .rows(rows)
  }

  /// Evaluates these rows again, and the rows below each row whose visibility changes.
  private func recheck(_ doubtful: RowSet, in place: Int, _ seen: inout RowSet) throws {
    let branches = try links.links[place].filter { $0.parent == place }.compactMap(\.children)
    var next = doubtful
    var judged = RowSet()
    var generations = 0
    while !next.isEmpty {
      generations += 1
      var flipped = RowSet()
      for number in next {
        let isSeen = try maySee(number, in: place)
        if isSeen == seen.contains(number) { continue }
        flipped.insert(number)
        if isSeen { seen.insert(number) } else { seen.remove(number) }
      }
      if !branches.isEmpty, flipped.count > Self.mostFollowed || generations > Self.mostGenerations {
        seen = try visible(in: place)
        return
      }
      judged = judged.union(next)
      next = RowSet()
      for children in branches { try insertRows(referringTo: flipped, by: children, into: &next) }
      next = next.subtracting(judged)
    }
  }

  private func insertRows(referringTo parents: RowSet, by children: String, into rows: inout RowSet) throws {
    if parents.isEmpty { return }
    let numbers = "[\(parents.map { String($0) }.joined(separator: ","))]"
    try store.database.each(children, ["numbers": .string(numbers)]) { rows.insert($0.integer(0)) }
  }
}
