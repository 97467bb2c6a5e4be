import SatchelCapture
import SatchelConflicts
import SatchelSQLite
import SatchelValues

/// The order in which waiting rows are tried. A row comes before the rows that wait for it.
///
/// A parent comes before its children. The deletes of children come before the delete of their parent. A row that gives
/// up a UNIQUE value comes before the row that gets the value. The changes alone are enough to find this order. So the
/// cost depends only on the number of waiting rows, and a chain of any length is merged in one round.
///
/// Some rows keep their order: rows that wait for one another in a circle, rows without known values, and rows that
/// wait for a value of an index over an expression.
///
/// Source: depth-first search, Cormen and others, Introduction to Algorithms, "Topological sort".
struct WaitingOrder {
  /// One change of a row.
  struct Part {
    let place: Int
    let key: RowKey
    let change: Change
  }

  /// Changes that are tried together.
  struct Item {
    /// The changes in the order in which they were made.
    let parts: [Part]
    /// The indices of earlier items that change the same rows. They must come before this item.
    var after: [Int] = []
  }

  /// An effect of a change. Other changes may wait for it.
  private struct Event: Hashable {
    enum Kind { case isThere, isNotReferredTo, isFree }

    let kind: Kind
    /// The index of the table that has the columns. For a reference, this is the parent's table.
    let place: Int
    let columns: [Int]
    let values: [Value]

    /// If a parent is deleted or gets another key: the event that another row gets the parent's values. The children
    /// then refer to that row. nil for other events.
    var replaced: Event? {
      kind == .isNotReferredTo ? Event(kind: .isThere, place: place, columns: columns, values: values) : nil
    }
  }

  /// Columns of a table. A change of their values may allow or prevent changes of other rows.
  private struct Compared: Hashable {
    enum Role { case made, awaited }

    let columns: [Int]
    /// The table and the columns that the events name. For a reference, these are the parent's table and columns.
    let place: Int
    let target: [Int]
    /// `before` is the event when the row loses its old values. `after` is the event when the row gets its new values.
    /// The role says whether the change causes the event or waits for it.
    let before: Event.Kind
    let beforeIs: Role
    let after: Event.Kind
    let afterIs: Role
    /// How SQLite compares the values of each column. If an element is nil or missing, values are compared as they are.
    let comparisons: [Comparison?]

    /// Returns the values in the form in which SQLite compares them.
    func folded(_ values: [Value]) -> [Value] {
      values.enumerated().map { position, value in
        let comparison = position < comparisons.count ? comparisons[position] : nil
        return comparison?.folded(value) ?? value
      }
    }
  }

  /// The compared columns of each table, by the index of the table.
  private var compared: [[Compared]]

  /// - Parameters:
  ///   - places: the indices of the tables that the items change. nil for all tables.
  ///   - comparisons: returns how SQLite compares the columns to which a reference leads. If empty, values are compared
  ///     as they are.
  init(
    _ tables: [TrackedTable], changing places: Set<Int>? = nil,
    comparisons: (ForeignKey) -> [Comparison] = { _ in [] }
  ) {
    compared = Array(repeating: [], count: tables.count)
    let all = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.name, $0) })
    for (place, table) in tables.enumerated() where places?.contains(place) ?? true {
      compared[place] += table.info.uniqueIndexes.compactMap { Self.indexed($0, of: table, in: place, comparisons) }
    }
    for (place, table) in tables.enumerated() where places?.contains(place) ?? true {
      for key in table.schema.foreignKeys {
        guard let parent = all[key.parent] else { continue }
        let target = key.parentColumns.compactMap { tables[parent].schema.position(of: $0) }
        if target.count == key.columns.count {
          add(key.columns, of: place, referringTo: target, of: parent, comparisons(key))
        }
      }
    }
  }

  /// Returns the columns of a UNIQUE index. nil if a part of the index is no stored column.
  private static func indexed(
    _ index: UniqueIndex, of table: TrackedTable, in place: Int, _ comparisons: (ForeignKey) -> [Comparison]
  ) -> Compared? {
    let columns = index.parts.compactMap(\.column)
    if columns.count < index.parts.count { return nil }
    // Without a collation of its own, an index compares a column in the same way as a reference to the column.
    let reference = ForeignKey(
      columns: columns, parent: table.name, parentColumns: columns.map { table.schema.columns[$0] })
    let known = zip(index.parts, comparisons(reference)).map { part, column -> Comparison? in
      part.collation.uppercased() == column.collation ? column : nil
    }
    return Compared(
      columns: columns, place: place, target: columns, before: .isFree, beforeIs: .made, after: .isFree,
      afterIs: .awaited, comparisons: known)
  }

  private mutating func add(
    _ columns: [Int], of child: Int, referringTo target: [Int], of parent: Int, _ comparisons: [Comparison?]
  ) {
    compared[child].append(
      Compared(
        columns: columns, place: parent, target: target, before: .isNotReferredTo, beforeIs: .made, after: .isThere,
        afterIs: .awaited, comparisons: comparisons))
    let isReferredTo = Compared(
      columns: target, place: parent, target: target, before: .isNotReferredTo, beforeIs: .awaited, after: .isThere,
      afterIs: .made, comparisons: comparisons)
    if !compared[parent].contains(isReferredTo) { compared[parent].append(isReferredTo) }
  }

  /// Returns the indices of the items in the order in which the items must be tried.
  /// - Parameter row: reads the present row. Needed if a change has only some of the compared columns.
  func sorted(_ items: [Item], _ row: (_ place: Int, _ key: RowKey) throws -> Row?) rethrows -> [Int] {
    var makers: [Event: [Int]] = [:]
    var awaited: [[Event]] = []
    for (number, item) in items.enumerated() {
      var events = Events()
      for part in item.parts { try add(part, to: &events, row) }
      for event in events.made { makers[event, default: []].append(number) }
      awaited.append(events.awaited)
    }
    var isSeen = Array(repeating: false, count: items.count)
    var result: [Int] = []
    /// Returns the items that must come before an item. The makers of an event are returned once, because after that
    /// they are in the result or on the path.
    func before(_ number: Int) -> [Int] {
      let makers = awaited[number].flatMap { makers.removeValue(forKey: $0) ?? [] }
      return (items[number].after + makers).reversed()
    }
    for start in items.indices where !isSeen[start] {
      isSeen[start] = true
      var path = [(number: start, before: before(start))]
      while var last = path.popLast() {
        guard let next = last.before.popLast() else {
          result.append(last.number)
          continue
        }
        path.append(last)
        if isSeen[next] { continue }
        isSeen[next] = true
        path.append((next, before(next)))
      }
    }
    return Self.keepingOrder(of: items, result)
  }

  /// Returns a graph of the items and of the events for which they wait. The first nodes are the items, in their order.
  /// - Parameter row: reads the present row. Needed if a change has only some of the compared columns.
  /// - Returns: for each node, the numbers of the nodes for which it waits.
  func graph(_ items: [Item], _ row: (_ place: Int, _ key: RowKey) throws -> Row?) rethrows -> [[Int]] {
    var awaited: [[Int]] = Array(repeating: [], count: items.count)
    var numbers: [Event: Int] = [:]
    func node(of event: Event) -> Int {
      if let known = numbers[event] { return known }
      let new = awaited.count
      numbers[event] = new
      awaited.append([])
      return new
    }
    for (number, item) in items.enumerated() {
      var events = Events()
      for part in item.parts { try add(part, to: &events, row) }
      for event in events.made.map(node(of:)) { awaited[event].append(number) }
      for event in (events.awaited + events.awaited.compactMap(\.replaced)).map(node(of:)) {
        awaited[number].append(event)
      }
    }
    return awaited
  }

  /// Moves each item behind the items in its `after`. The search may have put an item too early if items wait for one
  /// another in a circle.
  private static func keepingOrder(of items: [Item], _ numbers: [Int]) -> [Int] {
    var isTaken = Array(repeating: false, count: items.count)
    var result: [Int] = []
    for number in numbers {
      var path = [number]
      while let last = path.last {
        let missing = isTaken[last] ? [] : items[last].after.filter { !isTaken[$0] }
        path += missing
        if !missing.isEmpty { continue }
        path.removeLast()
        if !isTaken[last] { result.append(last) }
        isTaken[last] = true
      }
    }
    return result
  }

  private struct Events {
    var made: [Event] = []
    var awaited: [Event] = []
  }

  private func add(
    _ part: Part, to events: inout Events, _ row: (_ place: Int, _ key: RowKey) throws -> Row?
  ) rethrows {
    let compared = self.compared[part.place]
    if compared.isEmpty { return }
    let (before, after) = try images(part, row)
    for columns in compared {
      func values(_ image: [Int: Value]) -> [Value]? {
        let values = columns.columns.compactMap { image[$0] }
        return values.count < columns.columns.count || values.contains(where: \.isNull) ? nil : values
      }
      func add(_ kind: Event.Kind, _ role: Compared.Role, _ values: [Value]) {
        let event = Event(
          kind: kind, place: columns.place, columns: columns.target, values: columns.folded(values))
        switch role {
        case .made: events.made.append(event)
        case .awaited: events.awaited.append(event)
        }
      }
      let (old, new) = (values(before), values(after))
      if old == new { continue }
      if let old { add(columns.before, columns.beforeIs, old) }
      if let new { add(columns.after, columns.afterIs, new) }
    }
  }

  /// Returns the known values of a row before and after a change, by column index.
  private func images(
    _ part: Part, _ row: (_ place: Int, _ key: RowKey) throws -> Row?
  ) rethrows -> (before: [Int: Value], after: [Int: Value]) {
    func all(_ row: Row) -> [Int: Value] { Dictionary(uniqueKeysWithValues: row.values.enumerated().map { ($0, $1) }) }
    switch part.change {
    case .insert(let row): return ([:], all(row))
    case .delete(let was): return (all(was), [:])
    case .update(let changes):
      let changed = Set(changes.map(\.column))
      let isPartly = compared[part.place].contains {
        $0.columns.contains(where: changed.contains) && !$0.columns.allSatisfy(changed.contains)
      }
      let rest = isPartly ? try row(part.place, part.key).map(all) ?? [:] : [:]
      func with(_ value: (ColumnChange) -> Value) -> [Int: Value] {
        rest.merging(changes.map { ($0.column, value($0)) }) { $1 }
      }
      return (with(\.was), with(\.value))
    }
  }
}

extension HubStore {
  /// Returns groups of recorded changes in an order in which each group may help the next group. If one device changes
  /// the same row in several groups, these groups keep their order.
  func inWaitingOrder<Group>(_ groups: [Group], _ records: (Group) -> [ConflictRecord]) throws -> [Group] {
    var last: [HeldRows.RowReference: Int] = [:]
    let items = groups.enumerated().map { number, group in
      let changed = Set(records(group).map { HeldRows.RowReference($0) })
      defer { for row in changed { last[row] = number } }
      return WaitingOrder.Item(
        parts: records(group).compactMap(part), after: changed.compactMap { last[$0] }.sorted())
    }
    let order = WaitingOrder(tables) { database.comparisons(ofParentIn: $0) }
    return try order.sorted(items) { try rows[$0].row($1) }.map { groups[$0] }
  }

  private func part(of record: ConflictRecord) -> WaitingOrder.Part? {
    guard let place = place(of: record.table), let change = try? record.change(in: tables[place].schema) else {
      return nil
    }
    return .init(place: place, key: record.key, change: change)
  }
}
