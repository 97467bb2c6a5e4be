import SatchelConflicts
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The form in which one conflict is shown.
struct ConflictView {
  let conflict: StoredConflict
  /// The layers of the database: its tables with geometries. They give the units of distances.
  var layers: [Layer] = []
  private var record: ConflictRecord { conflict.record }

  /// The geometries of the conflict, for each column that has geometries.
  func geometries(_ row: [Field]? = nil) -> [ConflictGeometries] {
    columns(row).compactMap { ConflictGeometries($0, of: record, layers: layers) }
  }

  /// The row of a conflict, with the number of other rows of its unit.
  static func rows(of unit: ConflictUnit) -> String {
    let more = unit.isSingle ? "" : " and \(unit.members.count - 1) more of its unit"
    return row(of: unit.head) + more
  }

  /// The row of a conflict: its table, its primary key, and its label for people.
  static func row(of conflict: StoredConflict) -> String {
    let record = conflict.record
    let label = conflict.label.map { " \(Words.value($0))" } ?? ""
    return "\(record.table) [\(Words.key(record.key))]\(label)"
  }

  /// A conflict in words, with all changes of its unit and the rows that wait for it.
  static func text(_ shown: ShownConflict, layers: [Layer], _ context: CommandContext) -> TerminalText {
    var text: TerminalText = "Conflict \(shown.conflict.record.id)\n"
    if shown.isUnit { text += "A unit of \(Words.count(shown.parts.count, "change")), decided as one.\n" }
    for part in shown.parts {
      if shown.isUnit { text += "\n" }
      let view = ConflictView(conflict: part.conflict, layers: layers)
      text += view.text(row: part.row, device: shown.device, context)
    }
    if shown.conflict.record.state != .resolved {
      text += shown.isUnit ? "The unit's mark: \(shown.mark)\n" : "The row's mark: \(shown.mark)\n"
    }
    text += Self.text(below: shown.below)
    return text
  }

  /// The conflict in words: the base, hub and device values of each column, and the row as it is now.
  /// - Parameter device: the device that made the change, by name if it is known.
  private func text(row: [Field]?, device: String, _ context: CommandContext) -> TerminalText {
    let clock = context.platform.clock
    var text: TerminalText = "\(Self.row(of: conflict)): \(Self.explain(record))\n"
    if record.isTakenLate { text += "\(Self.takenLate)\n" }
    text += "Change by \(record.user) on \(device), \(clock.localText(milliseconds: record.stamp.milliseconds))\n"
    text += "State: \(record.state.rawValue)"
    if let decision = conflict.decision {
      text += ", \(decision.made.rawValue) by \(decision.by), \(clock.localText(milliseconds: decision.at))"
    }
    text += "\n"
    if conflict.isReported { text += "\(Self.reported(by: device))\n" }
    if let note = record.note { text += "Note: \(note)\n" }
    text += "\n" + sides(row: row, width: context.console.traits.width)
    for geometries in geometries(row) { text += geometries.text(row: row) }
    if record.hubValues == nil, record.kind != .insertInsert {
      text += "The hub has no such row, or this user may not see it.\n"
    }
    if record.deviceValues == nil { text += "The device deleted the row.\n" }
    return text
  }

  /// All sides of each column: a table, or lines below each column's name if the table is too wide.
  private func sides(row: [Field]?, width: Int) -> TerminalText {
    let titles = ["BEFORE", "HUB", "DEVICE", "STANDS", "ROW NOW"]
    let lines = columns(row).map { name in
      let found =
        [Self.before(name, of: conflict)] + [record.hubValues, record.deviceValues].map { Self.cell(name, $0) }
      return (name: name, cells: found + [presentSide(of: name, in: row), Self.cell(name, row)])
    }
    var table = TextTable((["COLUMN"] + titles).map { .left($0) })
    for line in lines { table.add([line.name.text] + line.cells) }
    if table.fits(in: width) { return table.text(width: width) }
    return lines.map { line -> TerminalText in
      var block = TextTable(["", ""])
      for (title, cell) in zip(titles, line.cells) { block.add([title, cell]) }
      return "\(line.name)\n" + block.text(width: width, indent: 2, overflow: .wrap)
    }.joined()
  }

  static func reported(by device: String) -> TerminalText {
    "Only \(device) reported this. The values are from its report; only the present row is certain."
  }

  /// The values of a column in words, such as `stars: 4 before, 3 at the hub, 5 on the device`.
  static func sides(of name: Name, in conflict: StoredConflict) -> TerminalText {
    let record = conflict.record
    func side(_ fields: [Field]?) -> String { Words.clipped(cell(name, fields)) }
    return """
      \(name): \(Words.clipped(before(name, of: conflict))) before, \(side(record.hubValues)) at the hub, \
      \(side(record.deviceValues)) on the device
      """
  }

  /// The columns to show. If the conflict has no columns, they are the columns of `row`.
  func columns(_ row: [Field]?) -> [Name] { record.columns.isEmpty ? (row ?? []).map(\.name) : record.columns }

  /// The value of a side in a column.
  static func cell(_ name: Name, _ fields: [Field]?) -> String {
    guard let fields else { return "-" }
    return fields.first { $0.name == name }.map { Words.value($0.value) } ?? ""
  }

  /// The value of a column before the change.
  static func before(_ name: Name, of conflict: StoredConflict) -> String {
    conflict.lacksStart(name) ? "not known" : cell(name, conflict.record.baseValues)
  }

  /// The side whose value the row has, by the record of the conflict. If a device reported the conflict, the present
  /// row shows whether it is the device's value.
  private func presentSide(of name: Name, in row: [Field]?) -> String {
    func value(_ fields: [Field]?) -> Value? { fields?.first { $0.name == name }?.value }
    if conflict.isReported, let now = value(row), now == value(record.deviceValues), now != value(record.hubValues) {
      return Winner.device.rawValue
    }
    return (record.winners.first { $0.name == name }?.winner ?? record.rowWinner).rawValue
  }

  static let takenLate = "The change was accepted: the user had the right when the change was made."

  /// The new rows that wait for the conflict's row, in words.
  static func text(below: [ConflictRecord]) -> TerminalText {
    if below.isEmpty { return "" }
    let lines = below.map { record -> TerminalText in
      "  \(record.table) [\(Words.key(record.key))]: \(Words.fields(record.deviceValues ?? []))\n"
    }
    return "These rows refer to it, and come back with it:\n" + lines.joined()
  }

  /// The identity of a conflict and of its row, as JSON.
  static func found(_ record: ConflictRecord) -> JSONValue {
    [
      "id": .string(record.id.text), "kind": .string(record.kind.rawValue), "state": .string(record.state.rawValue),
      "table": .string(record.table.text), "key": .key(record.key),
    ]
  }

  static func explain(_ record: ConflictRecord) -> String {
    if record.kind == .updateDelete, record.operation == .delete {
      return "another side had deleted the row already, so the unit in which the device deletes it does not fit"
    }
    return explain(record.kind)
  }

  static func explain(_ kind: ConflictKind) -> String {
    switch kind {
    case .updateUpdate: "both sides changed the same column to different values"
    case .deleteUpdate: "the device deleted the row, and another side changed it"
    case .updateDelete: "the device changed the row, and another side deleted it"
    case .insertInsert: "both sides made a row with this key"
    case .unique: "another row has a value that only one row may have"
    case .foreignKey: "a row to which it refers is missing, or rows that refer to it still exist"
    case .constraint: "the database does not allow a row like this"
    case .forbidden: "the user may not make this change"
    case .revoked: "this user may no longer see the row, or a row that it refers to"
    case .unseen: "the row on the device was not what the hub had sent, and no change of it was captured"
    case .unit: "another change of the same unit could not be accepted"
    }
  }

  /// A unit as one conflict with all its changes, as JSON.
  static func json(_ unit: ConflictUnit, layers: [Layer]) -> JSONValue {
    var members = ConflictView(conflict: unit.head, layers: layers).members()
    if !unit.isSingle {
      let changes = unit.members.map { ConflictView(conflict: $0, layers: layers).json() }
      members.append(.init(name: "changes", value: .array(changes)))
    }
    return .object(members)
  }

  /// A conflict as JSON, with the rows as they are now. A unit has all its changes.
  static func json(_ shown: ShownConflict, layers: [Layer]) -> JSONValue {
    var members = ConflictView(conflict: shown.conflict, layers: layers).members(row: shown.row)
    members += [.init(name: "row", value: .fields(shown.row)), .init(name: "row_mark", value: .string(shown.mark))]
    if shown.isUnit {
      let changes = shown.parts.map { part -> JSONValue in
        let view = ConflictView(conflict: part.conflict, layers: layers)
        return .object(view.members(row: part.row) + [.init(name: "row", value: .fields(part.row))])
      }
      members.append(.init(name: "changes", value: .array(changes)))
    }
    return .object(members)
  }

  func json() -> JSONValue { .object(members()) }

  private func members(row: [Field]? = nil) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = [
      .init(name: "id", value: .string(record.id.text)), .init(name: "state", value: .string(record.state.rawValue)),
      .init(name: "kind", value: .string(record.kind.rawValue)),
      .init(name: "device", value: .string(record.device.text)),
      .init(name: "user", value: .string(record.user)), .init(name: "table", value: .string(record.table.text)),
      .init(name: "key", value: .key(record.key)),
      .init(name: "label", value: conflict.label.map { JSONValue($0) } ?? .null),
      .init(name: "operation", value: .string(record.operation.rawValue)),
      .init(name: "generation", value: .integer(record.generation.rawValue)),
      .init(name: "stamp", value: .string(record.stamp.hexadecimal)),
      .init(name: "base_values", value: .fields(conflict.knownBaseValues)),
      .init(name: "hub_values", value: .fields(record.hubValues)),
      .init(name: "device_values", value: .fields(record.deviceValues)),
      .init(
        name: "winners",
        value: .object(record.winners.map { .init(name: $0.name.text, value: .string($0.winner.rawValue)) })),
      .init(name: "winner", value: .string(record.rowWinner.rawValue)),
      .init(name: "note", value: .optional(record.note)),
      .init(name: "noted", value: .time(conflict.noted)),
      .init(name: "bundle", value: .optional(conflict.bundle?.text)),
      .init(name: "reported", value: .bool(conflict.isReported)),
      .init(name: "unit", value: .optional(record.unit?.text)),
    ]
    let geometries = geometries(row)
    if !geometries.isEmpty {
      members.append(
        .init(
          name: "geometries",
          value: .object(geometries.map { .init(name: $0.column.text, value: $0.json(row: row)) })
        ))
    }
    if let decision = conflict.decision {
      members.append(
        .init(
          name: "decision",
          value: ["made": .string(decision.made.rawValue), "by": .string(decision.by), "at": .time(decision.at)]))
    }
    return members
  }
}

extension ConflictRecord {
  /// The columns of the conflict. All columns of the row, if the conflict is about the whole row.
  var columns: [Name] {
    if !winners.isEmpty { return winners.map(\.name) }
    if operation == .update, let values = deviceValues { return values.map(\.name) }
    return (deviceValues ?? baseValues ?? hubValues ?? []).map(\.name)
  }
}
