import SatchelJSON
import SatchelValues

extension ConflictRecord {
  public func write(into writer: inout JSONWriter) {
    writer.beginObject()
    writer.members([
      "conflict": id.text, "device": device.text, "user": user, "table": table.text, "op": operation.rawValue,
    ])
    writer.key("key")
    writer.key(of: key)
    writer.key("generation")
    writer.integer(generation.rawValue)
    writer.members(["stamp": stamp.hexadecimal, "kind": kind.rawValue, "state": state.rawValue])
    writer.fields("base_values", baseValues)
    writer.fields("hub_values", hubValues)
    writer.fields("device_values", deviceValues)
    writer.key("winners")
    writer.beginObject()
    for column in winners {
      writer.key(column.name.text)
      writer.string(column.winner.rawValue)
    }
    writer.endObject()
    writer.key("winner")
    writer.string(rowWinner.rawValue)
    if let decision { writer.members(["decision": decision.made.rawValue, "decided_by": decision.by]) }
    if let note {
      writer.key("note")
      writer.string(note)
    }
    if let unit { writer.members(["unit": unit.text]) }
    writer.endObject()
  }

  static func parse(_ line: [UInt8], limits: BundleLimits) throws -> ConflictRecord {
    var draft = ConflictDraft()
    var seen: Set<[UInt8]> = []
    var scanner = JSONScanner(line, limits: JSONLimits(maxDepth: limits.jsonDepth))
    try scanner.beginObject()
    while let member = try scanner.nextKey() {
      let name = String(decoding: member, as: UTF8.self)
      guard seen.insert(member).inserted else { throw LineProblem("a member occurs twice") }
      switch name {
      case "key": draft.key = try scanner.readKey()
      case "generation": draft.generation = Generation(try scanner.readNatural())
      case "base_values": draft.baseValues = try scanner.readOptionalFields()
      case "hub_values": draft.hubValues = try scanner.readOptionalFields()
      case "device_values": draft.deviceValues = try scanner.readOptionalFields()
      case "winners":
        try scanner.beginObject()
        while let column = try scanner.nextKey() {
          guard let winner = Winner(rawValue: try scanner.readText()) else {
            throw LineProblem("a winner is neither hub nor device")
          }
          draft.winners.append(ColumnWinner(Name(String(decoding: column, as: UTF8.self)), winner))
        }
        guard areDistinct(draft.winners.map(\.name)) else { throw LineProblem("a winner's column occurs twice") }
      case "conflict", "device", "user", "table", "op", "kind", "state", "stamp", "winner", "note", "decision",
        "decided_by", "unit":
        draft.words[name] = try scanner.readText()
      default: try scanner.skipValue()
      }
    }
    try scanner.finish()
    for name in ["base_values", "hub_values", "device_values", "winners"] where !seen.contains(Array(name.utf8)) {
      throw LineProblem("\(name) is missing")
    }
    return try draft.finished()
  }
}

/// The members of a conflict's line that were already read.
private struct ConflictDraft {
  var words: [String: String] = [:]
  var key: RowKey?
  var generation: Generation?
  var baseValues: [Field]?
  var hubValues: [Field]?
  var deviceValues: [Field]?
  var winners: [ColumnWinner] = []

  func finished() throws -> ConflictRecord {
    func word<T>(_ name: String, _ make: (String) -> T?) throws -> T {
      guard let text = words[name], let value = make(text) else { throw LineProblem("\(name) is missing or unknown") }
      return value
    }
    guard let key, let generation else { throw LineProblem("key or generation is missing") }
    let state = try word("state") { ConflictState(rawValue: $0) }
    var decision: ConflictRecord.Decision?
    if state == .resolved {
      decision = .init(
        made: try word("decision") { Resolution.Decision(rawValue: $0) },
        by: try word("decided_by") { isUserName($0) ? $0 : nil }
      )
    } else if words["decision"] != nil || words["decided_by"] != nil {
      throw LineProblem("it names a decision, and its state is not resolved")
    }
    let operation = try word("op") { Operation(rawValue: $0) }
    guard (baseValues == nil) == (operation == .insert), (deviceValues == nil) == (operation == .delete) else {
      throw LineProblem("base_values and device_values do not fit op \(operation.rawValue)")
    }
    return ConflictRecord(
      id: try word("conflict") { ConflictID($0) }, device: try word("device") { ReplicaID($0) },
      user: try word("user") { isUserName($0) ? $0 : nil },
      table: try word("table") { Name($0) }, key: key, generation: generation,
      stamp: try word("stamp") { Stamp(hexadecimal: $0) }, operation: operation,
      kind: try word("kind") { ConflictKind(rawValue: $0) }, state: state,
      baseValues: baseValues,
      hubValues: hubValues, deviceValues: deviceValues, winners: winners,
      rowWinner: try word("winner") { Winner(rawValue: $0) },
      note: words["note"], decision: decision,
      unit: words["unit"] == nil ? nil : try word("unit") { ConflictID($0) })
  }
}

extension Resolution {
  func write(into writer: inout JSONWriter) {
    writer.beginObject()
    writer.members(["conflict": conflict.text, "decision": decision.rawValue, "user": user])
    writer.key("generation")
    writer.integer(generation.rawValue)
    writer.members(["stamp": stamp.hexadecimal])
    if let note {
      writer.key("note")
      writer.string(note)
    }
    writer.endObject()
  }

  static func parse(_ line: [UInt8], limits: BundleLimits) throws -> Resolution {
    let document = try JSONValue.parse(line, limits: JSONLimits(maxDepth: limits.jsonDepth))
    guard let conflict = document["conflict"]?.stringValue.flatMap({ ConflictID($0) }),
      let decision = document["decision"]?.stringValue.flatMap({ Decision(rawValue: $0) }),
      let user = document["user"]?.stringValue, isUserName(user),
      let stamp = document["stamp"]?.stringValue.flatMap({ Stamp(hexadecimal: $0) }),
      let generation = document["generation"]?.integerValue, (0...largestCount).contains(generation)
    else { throw LineProblem("conflict, decision, user, stamp or generation is missing or unknown") }
    let note = document["note"]
    guard note == nil || note?.stringValue != nil else { throw LineProblem("note is not a text") }
    return Resolution(
      conflict: conflict, decision: decision, user: user, stamp: stamp, generation: Generation(generation),
      note: note?.stringValue)
  }
}

extension JSONWriter {
  mutating func members(_ members: KeyValuePairs<String, String>) {
    for (name, text) in members {
      key(name)
      string(text)
    }
  }
}

/// A replica's own records may contain any value that SQLite accepts. Only lines of bundles have narrower limits.
private let ownLimits = JSONLimits(maxStringBytes: Int(Int32.max))

/// Writes and reads named values as a JSON object. Lines of bundles and Satchel's tables use this form.
public enum FieldsCoding {
  public static func json(_ fields: [Field]) -> [UInt8] {
    var writer = JSONWriter(capacity: 32 * fields.count)
    writer.object(fields)
    return writer.bytes
  }

  public static func parse(_ bytes: [UInt8]) throws -> [Field] {
    var scanner = JSONScanner(bytes, limits: ownLimits)
    let fields = try scanner.readFields()
    try scanner.finish()
    return fields
  }
}

/// Like `FieldsCoding.parse`, for many rows. Names are converted only once.
public struct FieldsReader: Sendable {
  private var names = KnownNames()

  public init() {}

  public mutating func parse(_ bytes: [UInt8]) throws -> [Field] {
    var scanner = JSONScanner(bytes, limits: ownLimits)
    let fields = try scanner.readFields(named: &names)
    try scanner.finish()
    return fields
  }
}
