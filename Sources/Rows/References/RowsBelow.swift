import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Finds the rows that refer to other rows, at any depth. Values are compared as SQLite compares references. Each row
/// is visited once.
public struct RowsBelow {
  fileprivate struct Reference: Hashable {
    let child: Name
    let key: ForeignKey
    /// The values in a form in which all spellings of the same value are equal.
    let values: [Value]
  }

  private let schemas: [Name: TableSchema]
  private let comparisons: [ForeignKey: [Comparison]]
  /// A search whose parents are given one by one.
  public struct Search {
    /// The numbers of the rows found so far. Rows that refer to a parent come before the rows below them.
    public fileprivate(set) var found: [Int] = []
    fileprivate var seen: Set<Int> = []
    /// The references that were already searched. Very many parents may have the same values.
    fileprivate var followed: Set<Reference> = []

    public init() {}
  }

  private var rows: [(row: Row, table: Name)] = []
  private var children: [Reference: [Int]] = [:]

  public init(among tables: [TrackedTable], in database: borrowing Database) {
    schemas = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.schema) })
    var comparisons: [ForeignKey: [Comparison]] = [:]
    for key in tables.flatMap(\.schema.foreignKeys) { comparisons[key] = database.comparisons(ofParentIn: key) }
    self.comparisons = comparisons
  }

  /// Adds a row that a search may find. The first row has the number 0, the next 1, and so on.
  public mutating func add(_ row: Row, of table: Name) {
    for key in schemas[table]?.foreignKeys ?? [] {
      if let reference = reference(of: table, along: key, key.columns.map { row[$0] }) {
        children[reference, default: []].append(rows.count)
      }
    }
    rows.append((row, table))
  }

  /// The row with this number.
  public subscript(number: Int) -> (row: Row, table: Name) { rows[number] }

  /// The numbers of the rows that refer to one of `parents`, at any depth. Each row comes before the rows below it.
  public func find(below parents: [(row: Row, table: Name)]) -> [Int] {
    var search = Search()
    find(below: parents, in: &search)
    return search.found
  }

  /// Finds the rows that refer to one of `parents`, at any depth, and adds them to the result of a search.
  public func find(below parents: [(row: Row, table: Name)], in search: inout Search) {
    var next = parents
    while !next.isEmpty {
      var new: [Int] = []
      for parent in next {
        for reference in references(to: parent) where search.followed.insert(reference).inserted {
          new += (children[reference] ?? []).filter { search.seen.insert($0).inserted }
        }
      }
      search.found += new
      next = new.map { rows[$0] }
    }
  }

  /// Whether a row refers directly to `parent` and `isWanted` accepts its number.
  public func isReferredTo(_ parent: (row: Row, table: Name), byAny isWanted: (Int) -> Bool) -> Bool {
    references(to: parent).contains { children[$0]?.contains(where: isWanted) ?? false }
  }

  /// All references by which rows can refer to `parent`.
  private func references(to parent: (row: Row, table: Name)) -> [Reference] {
    guard let schema = schemas[parent.table] else { return [] }
    return schemas.flatMap { table, child in
      child.foreignKeys.filter { $0.parent == parent.table }.compactMap { key -> Reference? in
        let positions = key.parentColumns.compactMap { schema.position(of: $0) }
        guard positions.count == key.parentColumns.count else { return nil }
        return reference(of: table, along: key, positions.map { parent.row[$0] })
      }
    }
  }

  /// nil if a value is NULL, which refers to no row.
  private func reference(of child: Name, along key: ForeignKey, _ values: [Value]) -> Reference? {
    if values.contains(where: \.isNull) { return nil }
    return Reference(
      child: child, key: key, values: zip(comparisons[key] ?? [], values).map { $0.folded($1) })
  }
}
