import SatchelValues

/// Makes the lines of a device's steps. That is a third of the work of an export.
struct StepLineMaker: ChangeLineMaker {
  struct Item: Sendable {
    let place: ApplyOrder
    /// The index of the step's table in `tables`.
    let table: Int
    let step: Step
  }

  let tables: [TableSchema]

  func line(of item: Item) -> ChangeLine { ChangeLine(item.step, schema: tables[item.table]) }

  static func byteCount(of item: Item) -> Int { item.step.byteCount }
}

extension LineSorter {
  mutating func add(_ lines: MadeLines<StepLineMaker>.Lines) throws {
    var begin = 0
    var end = 0
    for (index, item) in lines.items.enumerated() {
      end += lines.lengths[index]
      // Adjacent lines with the same place are added in one call.
      if index + 1 < lines.items.count, lines.items[index + 1].place == item.place { continue }
      try add(lines.bytes[begin..<end], item.place)
      begin = end
    }
  }
}
