import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Finds out which rows of a deep tree a user may see. Each row is read once, and the answer is remembered.
///
/// To answer, the search climbs from a row to its parents, and stops at remembered rows. Without this memory, the total
/// time would grow with the square of the depth. After a write of a row, the row is forgotten, with all remembered rows
/// below it. After a write of another table that the rules read, all rows are forgotten.
///
/// A visible row is remembered with all rows above it. A hidden row is remembered with the row that hides it. So no
/// answer remains when its reason is forgotten.
final class DeepTree: RowFollower {
  private struct Known {
    let key: RowKey
    let isSeen: Bool
    /// The remembered rows that refer to this row. Some of them may be forgotten since.
    var children: [Int] = []
  }

  /// The number of rows that are remembered. A tree with more rows above one row needs more.
  static let mostRows = 100_000

  private let stepUp: KeptStatement
  /// The parameters for the values of a row's key.
  private let keyParameters: [Int32]
  private let schema: TableSchema
  private let ways: Int
  /// For each table: the columns that may change an answer.
  private let deciding: [Name: Set<Int>]
  /// Whether a row may decide about rows that are not below it in the tree.
  private let isTangled: Bool
  private var known: [Int: Known] = [:]
  private var numbers: [RowKey: Int] = [:]
  private var lastNumber = 0
  private var links = 0
  private var limit = DeepTree.mostRows
  private(set) var rowsRead = 0

  init(of table: TrackedTable, for scope: ScopeStore) throws {
    let (kept, authorizer) = try scope.prepare(scope.rules.stepUpSQL(table))
    stepUp = kept
    let names = kept.statement.parameterNames
    keyParameters = table.schema.key.indices.map { part in
      Int32((names.firstIndex { $0 == "satchel_\(part + 1)" } ?? 0) + 1)
    }
    schema = table.schema
    ways = table.treeKeys.count
    isTangled = try Self.isTangled(table, scope)
    let read = scope.store.tables.filter { authorizer.reads($0.name) }
    deciding = Dictionary(uniqueKeysWithValues: read.map { ($0.name, authorizer.dependencies(on: $0.schema)) })
    scope.store.database.writes.add(self)
  }

  /// Whether a row may decide about rows that are not below it. This is so if a rule of this table, or of a table above
  /// it, may read any row of the tree. It is also so if a reference may match several rows.
  private static func isTangled(_ table: TrackedTable, _ scope: ScopeStore) throws -> Bool {
    let (store, links) = (scope.store, try scope.links)
    guard let place = store.place(of: table.name) else { return true }
    if links.withAbove(place).contains(where: { links.reads[$0].contains(place) }) { return true }
    return !table.treeKeys.allSatisfy { matchesOneRow($0, of: table, store) }
  }

  /// Whether a reference matches at most one row, even if it spells the key in another way.
  ///
  /// SQLite compares the values by the type and the collation of the parent's column. A UNIQUE index with this
  /// collation allows only one match.
  private static func matchesOneRow(_ key: ForeignKey, of table: TrackedTable, _ store: HubStore) -> Bool {
    var collations: [Int: String] = [:]
    for name in key.parentColumns {
      guard let column = table.schema.position(of: name),
        let compared = store.database.comparison(of: name, in: table.name)
      else { return false }
      collations[column] = compared.collation
    }
    if collations.count == 1, let column = table.info.rowidAlias, collations[column] != nil { return true }
    return table.info.uniqueIndexes.contains { index in
      if index.condition != nil || index.parts.count != collations.count { return false }
      for part in index.parts {
        guard let column = part.column, collations[column] == part.collation.uppercased() else { return false }
      }
      return true
    }
  }

  /// Whether the user may see a row of the tree.
  func isSeen(_ key: RowKey) throws -> Bool {
    if let row = known(key) { return row.isSeen }
    if max(known.count, links) > limit { forgetAll() }
    let climb = try climb(from: key)
    // A climb with more rows than the limit would be forgotten at once, and read again for each row. So the limit grows
    // with the climb.
    limit = max(Self.mostRows, 2 * climb.rows.count)
    let hidden = climb.hidden
    // Rows below a missing row are hidden until the missing row comes. It may come soon, so these rows are not
    // remembered.
    let lost = climb.spread(from: climb.rows.indices.filter { climb.rows[$0].isLost && !hidden[$0] })
    remember(climb, hidden: hidden, lost: lost)
    return !hidden[0] && !lost[0]
  }

  // MARK: up the tree

  /// A row on the way up.
  private struct Climbed {
    let key: RowKey
    /// Whether the row itself is hidden, or a remembered row above it is.
    var isHidden: Bool
    /// Whether the row, or a remembered row above it, names a parent in another table. Also true if the table needs no
    /// parent.
    var isNamed = false
    /// Whether the row is missing, or refers to a row that is missing or has no key.
    var isLost = false
    var parents: [RowKey] = []
  }

  /// The rows above a row, up to the first remembered rows.
  private struct Climbing {
    var rows: [Climbed] = []
    /// For each row: the positions of the rows that refer to it.
    var children: [[Int]] = []

    /// For each row: whether it is hidden. A row is also hidden if no row above it names a parent, as in a circle. If a
    /// row above it is missing, that is not decided yet.
    var hidden: [Bool] {
      let named = spread(from: rows.indices.filter { rows[$0].isNamed })
      let lost = spread(from: rows.indices.filter { rows[$0].isLost })
      return spread(from: rows.indices.filter { rows[$0].isHidden || !named[$0] && !lost[$0] })
    }

    /// For each row: whether it is in `first`, or below a row in `first`.
    func spread(from first: [Int]) -> [Bool] {
      var isReached = rows.map { _ in false }
      var next = first
      while let row = next.popLast() {
        if isReached[row] { continue }
        isReached[row] = true
        next += children[row]
      }
      return isReached
    }
  }

  private func climb(from key: RowKey) throws -> Climbing {
    var climbing = Climbing()
    var keys = [key]
    var positions = [key: 0]
    var next = 0
    var children: [Int: [Int]] = [:]
    while next < keys.count {
      var row = try read(keys[next])
      for parent in row.parents {
        if let answer = known(parent) {
          if answer.isSeen { row.isNamed = true } else { row.isHidden = true }
          continue
        }
        let position = positions[parent] ?? keys.count
        if position == keys.count {
          keys.append(parent)
          positions[parent] = position
        }
        children[position, default: []].append(next)
      }
      climbing.rows.append(row)
      next += 1
    }
    climbing.children = climbing.rows.indices.map { children[$0] ?? [] }
    return climbing
  }

  private func read(_ key: RowKey) throws -> Climbed {
    rowsRead += 1
    defer { stepUp.statement.reset() }
    for (parameter, value) in zip(keyParameters, key.values) { try stepUp.statement.bind(value, at: parameter) }
    guard try stepUp.statement.step() else { return Climbed(key: key, isHidden: false, isLost: true) }
    var row = Climbed(
      key: key, isHidden: stepUp.statement.integer(0) == 0, isNamed: stepUp.statement.integer(1) != 0)
    let width = schema.key.count
    for way in 0..<ways {
      let first = 2 + way * (width + 1)
      guard stepUp.statement.integer(first) != 0 else { continue }
      let parent = stepUp.statement.values(from: first + 1, count: width)
      if parent.contains(where: \.isNull) { row.isLost = true } else { row.parents.append(RowKey(parent)) }
    }
    return row
  }

  // MARK: memory

  private func known(_ key: RowKey) -> Known? { numbers[key].flatMap { known[$0] } }

  private func remember(_ climb: Climbing, hidden: [Bool], lost: [Bool]) {
    for (position, row) in climb.rows.enumerated() where !lost[position] {
      lastNumber += 1
      numbers[row.key] = lastNumber
      known[lastNumber] = Known(key: row.key, isSeen: !hidden[position])
    }
    for row in climb.rows {
      guard let number = numbers[row.key] else { continue }
      for parent in row.parents {
        guard let parent = numbers[parent] else { continue }
        known[parent]?.children.append(number)
        links += 1
      }
    }
  }

  func rowWasWritten(_ write: RowWrites.Write) {
    if known.isEmpty { return }
    guard let deciding = deciding[write.table], write.columns?.contains(where: deciding.contains) ?? true else {
      return
    }
    if isTangled || write.table != schema.name { return forgetAll() }
    if let number = numbers[write.key] { forget(number) }
  }

  /// Forgets a row and all remembered rows below it.
  private func forget(_ number: Int) {
    var next = [number]
    while let number = next.popLast() {
      guard let row = known.removeValue(forKey: number) else { continue }
      numbers[row.key] = nil
      next += row.children
    }
  }

  func forgetAll() { (known, numbers, links) = ([:], [:], 0) }
}
