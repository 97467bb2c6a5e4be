import SatchelConflicts
import SatchelSQLite

extension ConflictView {
  /// The list of conflicts for people, with one line for each unit. It does not hold the rows' values in memory.
  struct Lines {
    private let layers: [Layer]
    private let now: Int64
    private var table = TextTable(["ID", "STATE", "KIND", "USER", "NOTED", "ROW"])

    init(layers: [Layer], now: Int64) { (self.layers, self.now) = (layers, now) }

    var isEmpty: Bool { table.isEmpty }

    mutating func add(_ units: [ConflictUnit]) {
      for unit in units {
        let (conflict, record) = (unit.head, unit.head.record)
        table.add([
          String(record.id.text.prefix(8)), record.state.rawValue,
          conflict.isReported ? "\(record.kind.rawValue), reported" : record.kind.rawValue, record.user,
          Words.age(of: conflict.noted, now: now),
          rows(of: unit) + ConflictView(conflict: conflict, layers: layers).moves,
        ])
      }
    }

    func text(width: Int) -> TerminalText { table.text(width: width) }
  }
}
