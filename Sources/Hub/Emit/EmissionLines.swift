import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// Makes the lines for the rows of an emission.
struct EmissionLines: ChangeLineMaker {
  struct Item: Sendable {
    let line: ChangeLine
    /// The index of the line's table.
    var place = 0
    /// The states that the row may have on the device before the device applies the line. nil if the hub does not send
    /// them.
    var belief: RowBelief?
  }

  /// Whether lines contain digests of the states that the row may have on the device.
  private let saysBefore: Bool
  private let schemas: [TableSchema]
  private var digesters: [RowDigester]
  private var reader = FieldsReader()

  /// - Parameter saysBefore: whether lines contain digests of the states that the row may have on the device. The
  ///   device must support these digests.
  init(of tables: [TrackedTable], saysBefore: Bool) {
    self.saysBefore = saysBefore
    schemas = tables.map(\.schema)
    digesters = schemas.map { RowDigester($0) }
  }

  /// The line, with a digest of each state that the row may have on the device. Only the first eight bytes of each
  /// digest are in the line, and equal digests come once. nil means that the row is missing. If the row exists at the
  /// hub, the line also says which columns other replicas wrote.
  mutating func line(of item: Item) throws -> ChangeLine {
    guard let belief = item.belief else { return item.line }
    var line = item.line
    let past = try belief.past(in: schemas[item.place], &reader)
    for row in past.rows where saysBefore {
      let digest = row.map { digesters[item.place].digest(of: $0).first64 }
      if !line.before.contains(digest) { line.before.append(digest) }
    }
    if case .row = line.content { line.others = past.others(in: schemas[item.place], beside: line.stamp) }
    return line
  }

  static func byteCount(of item: Item) -> Int {
    let belief = item.belief?.byteCount ?? 0
    guard case .row(let fields) = item.line.content else { return 64 + belief }
    return fields.reduce(belief) { $0 + $1.value.byteCount }
  }
}
