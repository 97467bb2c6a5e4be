import SatchelJSON
import SatchelValues

/// The writes of others to a row as JSON, in lines and in snapshots: an object with one member for each column.
public enum OthersWriteCoding {
  public static func json(_ writes: [OthersWrite]) -> [UInt8] {
    var writer = JSONWriter()
    writer.others(writes)
    return writer.bytes
  }

  /// Throws a `JSONError` or a `LineProblem`.
  public static func parse(_ bytes: [UInt8]) throws -> [OthersWrite] {
    var scanner = JSONScanner(bytes)
    var names = KnownNames()
    let writes = try scanner.readOthers(named: &names)
    try scanner.finish()
    return writes
  }
}

extension JSONWriter {
  mutating func others(_ writes: [OthersWrite]) {
    beginObject()
    for write in writes {
      key(write.column.text)
      beginObject()
      if let stamp = write.stamp {
        key("stamp")
        string(utf8: stamp.hexadecimalBytes)
      }
      if let after = write.after {
        key("after")
        integer(after.rawValue)
      }
      endObject()
    }
    endObject()
  }
}

extension JSONScanner {
  mutating func readOthers(named names: inout KnownNames) throws -> [OthersWrite] {
    var writes: [OthersWrite] = []
    try beginObject()
    while let (name, _) = try names.nextKey(in: &self) { writes.append(try readOthersWrite(of: name)) }
    guard areDistinct(writes.map(\.column)) else { throw LineProblem("a column occurs twice") }
    return writes
  }

  private mutating func readOthersWrite(of column: Name) throws -> OthersWrite {
    var (stamp, after): (Stamp?, EmissionNumber?)
    try beginObject()
    while let member = try nextKey() {
      switch String(decoding: member, as: UTF8.self) {
      case "stamp" where stamp == nil:
        stamp = Stamp(hexadecimal: try readString())
        if stamp == nil { throw LineProblem("others has a member stamp that is not a stamp") }
      case "after" where after == nil: after = EmissionNumber(try readNatural())
      case "stamp", "after": throw LineProblem("a member occurs twice")
      default: try skipValue()
      }
    }
    return OthersWrite(column: column, stamp: stamp, after: after)
  }
}
