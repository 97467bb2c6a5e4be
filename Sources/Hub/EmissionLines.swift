import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelValues
import SatchelWorkspace

/// Makes an emission's lines of rows.
struct EmissionLines: ChangeLineMaker {
  struct Item: Sendable {
    let line: ChangeLine
    /// The place of its table.
    var place = 0
    /// What the device may have of the row before it takes the line; empty: the hub does not say.
    var before: [Row?] = []
  }

  private var digesters: [RowDigester]

  init(of tables: [TrackedTable]) { digesters = tables.map { RowDigester($0.schema) } }

  /// The line with the first eight bytes of each row's digest, each once. nil stands for a row that is not there.
  mutating func line(of item: Item) -> ChangeLine {
    var line = item.line
    for row in item.before {
      let digest = row.map { digesters[item.place].digest(of: $0).first64 }
      if !line.before.contains(digest) { line.before.append(digest) }
    }
    return line
  }

  static func byteCount(of item: Item) -> Int {
    guard case .row(let fields) = item.line.content else { return 64 }
    return fields.reduce(item.before.reduce(0) { $0 + ($1?.byteCount ?? 0) }) { $0 + $1.value.byteCount }
  }
}
