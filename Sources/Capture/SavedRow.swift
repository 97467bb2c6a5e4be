import SatchelSQLite
import SatchelValues

/// One row of a table of pre-images.
struct SavedRow {
  let key: RowKey
  private let row: Row
  private let existed: Int64
  let generation: Generation
  private let stamp: Stamp
  private let first: FirstWrite?

  /// What a table of pre-images says of a row that was there, and that the hub does not have any more.
  static let gone: Int64 = 2

  /// Reads the saved columns, the generation, whether the row existed, and the stamps.
  init(_ statement: borrowing Statement, of table: TrackedTable) {
    let count = table.schema.columns.count
    row = Row(statement.values(from: 0, count: count))
    key = table.schema.key(of: row)
    generation = Generation(statement.integer(count))
    existed = statement.integer(count + 1)
    stamp = Stamp(statement.integer(count + 2))
    first = statement.optionalInteger(count + 3).map { FirstWrite(stored: $0) }
  }

  func image(of wanted: RowKey) -> PreImage {
    PreImage(
      generation: generation, stamp: stamp, first: first, row: existed != 0 && key == wanted ? row : nil,
      isGone: existed == Self.gone && key == wanted)
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
