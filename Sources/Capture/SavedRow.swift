import SatchelSQLite
import SatchelValues

/// One row of a table of pre-images.
struct SavedRow {
  let key: RowKey
  private let row: Row
  private let existed: Bool
  let generation: Generation
  private let stamp: Stamp

  /// Reads the saved columns, the generation, whether the row existed, and the stamp.
  init(_ statement: borrowing Statement, of table: TrackedTable) {
    let count = table.schema.columns.count
    row = Row(statement.values(from: 0, count: count))
    key = table.schema.key(of: row)
    generation = Generation(statement.integer(count))
    existed = statement.integer(count + 1) != 0
    stamp = Stamp(statement.integer(count + 2))
  }

  func image(of wanted: RowKey) -> PreImage {
    PreImage(generation: generation, stamp: stamp, row: existed && key == wanted ? row : nil)
  }
}

extension RowKey {
  /// Whether SQLite takes both for one key.
  func isEqualInSQL(to other: RowKey) -> Bool {
    zip(values, other.values).allSatisfy { a, b in
      switch (a, b) {
      case (.integer(let whole), .real(let real)), (.real(let real), .integer(let whole)): Int64(exactly: real) == whole
      case (.real(let a), .real(let b)): a == b
      default: a == b
      }
    }
  }
}
