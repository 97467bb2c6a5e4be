import SatchelConflicts
import SatchelDevice
import SatchelValues

/// The conflicts of the device that wait for a decision, side by side.
extension WindowSite {
  /// The most conflicts of the page, and the most columns of one conflict.
  private static let most = (conflicts: 20, columns: 20)
  /// The most characters of a value.
  private static let mostOfValue = 200

  func conflicts(_ status: DeviceStatus, _ workspace: DeviceWorkspace, _ words: WindowWords) -> Markup {
    guard let current = status.current else { return "" }
    let held: Markup =
      current.heldConflicts > 0 ? "<p>\(words.count(.heldChanges, current.heldConflicts))</p>\n" : ""
    if current.openConflicts == 0 { return held }
    // The number of conflicts is known even if they cannot be read. The page names the cause among the problems.
    let shown = (try? first(workspace)) ?? []
    let cards = shown.map { card($0, words) }
    let rest = Int(current.openConflicts) - shown.reduce(0) { $0 + $1.members.count }
    let more: Markup = rest > 0 ? "<p>\(words(.more, ["n": String(rest)]))</p>" : ""
    return """
      <h2>\(words(.conflictsHeading, ["n": String(current.openConflicts)]))</h2>
      <p>\(words(.conflictsWords))</p>
      \(cards)\(more)
      \(held)
      """
  }

  /// Thrown to end the reading of conflicts, because enough of them are read.
  private struct Enough: Error {}

  private func first(_ workspace: DeviceWorkspace) throws -> [ConflictUnit] {
    var units: [ConflictUnit] = []
    do {
      try workspace.eachBatchOfConflicts([.open], .units) { batch in
        units += batch.units
        if units.count >= Self.most.conflicts { throw Enough() }
      }
    } catch is Enough {}
    return Array(units.prefix(Self.most.conflicts))
  }

  private func card(_ unit: ConflictUnit, _ words: WindowWords) -> Markup {
    let record = unit.head.record
    let titles = [words(.columnField), words(.columnBefore), words(.columnOffice), words(.columnDevice)]
    let rows = record.columns.prefix(Self.most.columns).map { name -> [String] in
      [name.text]
        + [unit.head.knownBaseValues, record.hubValues, record.deviceValues].map { Self.cell(name, $0, words) }
    }
    let table = StatusSheet.Table(titles: titles, rows: Array(rows))
    let others = unit.members.count - 1
    let more: Markup = others > 0 ? "<p>\(words(.more, ["n": String(others)]))</p>" : ""
    return """
      <p>\(words(Self.text(record)))</p>
      \(table.markup(caption: Words.beginning(ConflictView.row(of: unit.head), Self.mostOfValue)))\(more)
      """
  }

  private static func cell(_ name: Name, _ fields: [Field]?, _ words: WindowWords) -> String {
    if case .null? = fields?.first(where: { $0.name == name })?.value { return words(.noValue) }
    return Words.beginning(ConflictView.cell(name, fields), mostOfValue)
  }

  static func text(_ record: ConflictRecord) -> WindowText {
    switch record.kind {
    case .updateUpdate: .bothChanged
    case .deleteUpdate: .deletedHere
    case .updateDelete: .deletedThere
    case .insertInsert: .bothMade
    case .unique: .valueTaken
    case .foreignKey: .rowMissing
    case .constraint: .notAllowed
    case .forbidden: .notYours
    case .revoked: .notSeen
    case .unseen: .notRecorded
    case .unit: .unitBroken
    }
  }
}
