import SatchelJSON
import SatchelValues

extension ChangeLine {
  func write(into writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("table")
    writer.string(table.text)
    writer.key("op")
    writer.string(operation)
    writer.key("key")
    writer.key(of: key)
    if let generation {
      writer.key("generation")
      writer.integer(generation.rawValue)
    }
    writer.key("stamp")
    writer.string(stamp.hexadecimal)
    switch content {
    case .insert(let fields), .row(let fields): writer.fields("row", fields)
    case .update(let set, let was):
      writer.fields("set", set)
      writer.fields("was", was)
    case .delete(let was): writer.fields("was", was)
    case .gone: break
    case .rekey(let to, let number), .block(let to, let number):
      writer.key("to")
      writer.key(of: to)
      writer.key("number")
      writer.integer(number.rawValue)
    }
    writer.endObject()
  }

  private var operation: String {
    switch content {
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    case .row: "row"
    case .gone: "gone"
    case .rekey: "rekey"
    case .block: "block"
    }
  }

  static func parse(_ line: [UInt8], limits: BundleLimits) throws(LineProblem) -> ChangeLine {
    do { return try parse(JSONScanner(line, limits: JSONLimits(maxDepth: limits.jsonDepth))) } catch let error as LineProblem {
      throw error
    } catch let error as JSONError {
      throw LineProblem("\(error.reason), at byte \(error.offset)")
    } catch {
      throw LineProblem("\(error)")
    }
  }

  private static func parse(_ start: JSONScanner) throws -> ChangeLine {
    var scanner = start
    var table: Name?
    var operation: String?
    var key: RowKey?
    var generation: Generation?
    var stamp: Stamp?
    var row: [Field]?
    var set: [Field]?
    var was: [Field]?
    var to: RowKey?
    var number: EmissionNumber?
    try scanner.beginObject()
    while let member = try scanner.nextKey() {
      switch String(decoding: member, as: UTF8.self) {
      case "table" where table == nil: table = Name(try scanner.readText())
      case "op" where operation == nil: operation = try scanner.readText()
      case "key" where key == nil: key = try scanner.readKey()
      case "generation" where generation == nil: generation = Generation(try scanner.readNatural())
      case "stamp" where stamp == nil: stamp = Stamp(hexadecimal: try scanner.readString())
      case "row" where row == nil: row = try scanner.readFields()
      case "set" where set == nil: set = try scanner.readFields()
      case "was" where was == nil: was = try scanner.readFields()
      case "to" where to == nil: to = try scanner.readKey()
      case "number" where number == nil: number = EmissionNumber(try scanner.readNatural())
      case "table", "op", "key", "generation", "stamp", "row", "set", "was", "to", "number":
        throw LineProblem("a member stands twice")
      // Room for what later versions say beside it, such as the origin of a change that came through another hub.
      default: try scanner.skipValue()
      }
    }
    try scanner.finish()
    guard let table, let key, let stamp, let operation else { throw LineProblem("table, op, key or stamp is missing") }
    if operation == "rekey" || operation == "block" {
      guard let to, let number, generation == nil, row == nil, set == nil, was == nil, stamp == .zero else {
        throw LineProblem("op \(operation) has not the members that belong to it")
      }
      let content: Content = operation == "rekey" ? .rekey(to: to, number: number) : .block(last: to, number: number)
      return ChangeLine(table: table, key: key, generation: nil, stamp: stamp, content: content)
    }
    let content: Content =
      switch (operation, generation, row, set, was) {
      case ("insert", .some, let row?, nil, nil): .insert(row)
      case ("update", .some, nil, let set?, let was?) where !set.isEmpty: .update(set: set, was: was)
      case ("delete", .some, nil, nil, let was?): .delete(was: was)
      case ("row", nil, let row?, nil, nil): .row(row)
      case ("gone", nil, nil, nil, nil) where stamp == .zero: .gone
      default: throw LineProblem("op \(operation) is unknown or has not the members that belong to it")
      }
    return ChangeLine(table: table, key: key, generation: generation, stamp: stamp, content: content)
  }
}

extension JSONWriter {
  mutating func key(of key: RowKey) {
    beginArray()
    for part in key.values { value(part) }
    endArray()
  }

  mutating func fields(_ name: String, _ fields: [Field]?) {
    key(name)
    if let fields { object(fields) } else { null() }
  }

  mutating func object(_ fields: [Field]) {
    beginObject()
    for field in fields {
      key(field.name.text)
      value(field.value)
    }
    endObject()
  }
}

/// Whether no name stands twice.
func areDistinct(_ names: [Name]) -> Bool {
  // Most rows are narrow, and for those comparing is cheaper than hashing.
  if names.count > 24 { return Set(names).count == names.count }
  return names.indices.allSatisfy { i in !names[..<i].contains(names[i]) }
}

extension JSONScanner {
  mutating func readText() throws -> String { String(decoding: try readString(), as: UTF8.self) }

  mutating func readNatural() throws -> Int64 {
    guard case .integer(let number) = try readNumber(), (0...largestCount).contains(number) else {
      throw LineProblem("a number is out of range")
    }
    return number
  }

  mutating func readKey() throws -> RowKey {
    var values: [Value] = []
    try beginArray()
    while try nextElement() { values.append(try readValue()) }
    if values.isEmpty { throw LineProblem("its key is empty") }
    return RowKey(values)
  }

  /// Named values, of which no name stands twice.
  mutating func readFields() throws -> [Field] {
    var fields: [Field] = []
    try beginObject()
    while let name = try nextKey() { fields.append(Field(Name(String(decoding: name, as: UTF8.self)), try readValue())) }
    guard areDistinct(fields.map(\.name)) else { throw LineProblem("a column stands twice") }
    return fields
  }

  mutating func readOptionalFields() throws -> [Field]? {
    if try peek() == .null {
      try readNull()
      return nil
    }
    return try readFields()
  }
}
