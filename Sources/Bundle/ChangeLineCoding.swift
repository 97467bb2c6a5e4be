import SatchelJSON
import SatchelValues

/// Names that were read before, so that no text is made of the bytes of one that comes again.
struct KnownNames {
  private var texts = KnownTexts()
  private var names: [Name] = []

  mutating func nextKey(in scanner: inout JSONScanner) throws(JSONError) -> Name? {
    try scanner.nextKey(among: &texts).map { name(of: $0) }
  }

  mutating func next(in scanner: inout JSONScanner) throws(JSONError) -> Name { name(of: try scanner.readString(among: &texts)) }

  private mutating func name(of found: KnownTexts.Found) -> Name {
    switch found {
    case .known(let place): return names[place]
    case .other(let bytes):
      let name = Name(String(decoding: bytes, as: UTF8.self))
      if texts.add(bytes) != nil { names.append(name) }
      return name
    }
  }
}

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
    writer.string(utf8: stamp.hexadecimalBytes)
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
func areDistinct(_ fields: [Field]) -> Bool {
  // In a wide table it is the names that take the time, in a narrow one the array of them.
  if fields.count > 24 { return areDistinct(fields.map(\.name)) }
  return fields.indices.allSatisfy { i in !fields[..<i].contains { $0.name == fields[i].name } }
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
    var names = KnownNames()
    return try readFields(named: &names)
  }

  /// The same where some of the names may be known.
  mutating func readFields(named names: inout KnownNames) throws -> [Field] {
    var fields: [Field] = []
    try beginObject()
    while let name = try names.nextKey(in: &self) { fields.append(Field(name, try readValue())) }
    guard areDistinct(fields) else { throw LineProblem("a column stands twice") }
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
