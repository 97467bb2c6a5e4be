import SatchelJSON
import SatchelValues

/// Names that were already read. If a name occurs again, its bytes are not converted to text again.
struct KnownNames {
  private var texts = KnownTexts()
  private var names: [Name] = []
  /// The most bytes of a name.
  private static let longest = 65_536

  /// A name, with its index among the known names. The index is nil if no more names can be remembered.
  typealias Known = (name: Name, place: Int?)

  mutating func nextKey(in scanner: inout JSONScanner) throws(JSONError) -> Known? {
    guard let found = try scanner.nextKey(among: &texts) else { return nil }
    return try name(of: found, before: scanner.offset)
  }

  mutating func next(in scanner: inout JSONScanner) throws(JSONError) -> Name {
    let found = try scanner.readString(among: &texts)
    return try name(of: found, before: scanner.offset).name
  }

  private mutating func name(of found: KnownTexts.Found, before offset: Int) throws(JSONError) -> Known {
    switch found {
    case .known(let place): return (names[place], place)
    case .other(let bytes):
      guard bytes.count <= Self.longest else {
        throw JSONError(offset: offset, reason: "the name before this byte is longer than \(Self.longest) bytes")
      }
      let name = Name(String(decoding: bytes, as: UTF8.self))
      let place = texts.add(bytes)
      if place != nil { names.append(name) }
      return (name, place)
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
    if let first {
      writer.key("first")
      writer.string(utf8: first.stamp.hexadecimalBytes)
      if !first.isOnly {
        writer.key("more")
        writer.bool(true)
      }
    }
    if let unit {
      writer.key("unit")
      writer.integer(unit.rawValue)
    }
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
    if !before.isEmpty {
      writer.key("before")
      writer.beginArray()
      for digest in before {
        if let digest { writer.string(utf8: Hexadecimal.utf8(of: digest)) } else { writer.null() }
      }
      writer.endArray()
    }
    if let others {
      writer.key("others")
      writer.others(others)
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

/// A set of indexes of known texts, to find a text that occurs twice.
struct SeenPlaces {
  static let capacity = UInt64.bitWidth
  private var bits: UInt64 = 0

  /// Adds an index below `capacity`. Returns whether it was not in the set.
  mutating func insert(_ place: Int) -> Bool {
    defer { bits |= 1 << place }
    return bits & 1 << place == 0
  }
}

/// Whether no name occurs twice.
func areDistinct(_ names: [Name]) -> Bool {
  // Most rows have few columns. For them comparisons are faster than hashing.
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
    // SQLite allows NULL in many keys, but no query finds a row by such a key.
    if values.contains(.null) { throw LineProblem("its key has a NULL") }
    return RowKey(values)
  }

  /// Reads an object of named values. Throws if a name occurs twice.
  mutating func readFields() throws -> [Field] {
    var names = KnownNames()
    return try readFields(named: &names)
  }

  /// Like `readFields()`, with names that may be known from earlier calls.
  mutating func readFields(named names: inout KnownNames) throws -> [Field] {
    var fields: [Field] = []
    // A known name has an index, so a set of indexes shows at once if a name occurs twice. Comparing each name with
    // all others took an eighth of an import.
    var seen = SeenPlaces()
    var areCounted = true
    try beginObject()
    while let (name, place) = try names.nextKey(in: &self) {
      fields.append(Field(name, try readValue()))
      guard fields.count <= Field.most else { throw LineProblem("a row has more than \(Field.most) columns") }
      if let place, place < SeenPlaces.capacity {
        guard seen.insert(place) else { throw LineProblem("a column occurs twice") }
      } else {
        areCounted = false
      }
    }
    guard areCounted || areDistinct(fields.map(\.name)) else { throw LineProblem("a column occurs twice") }
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
