extension JSONValue {
  /// Appends the value to the writer's output.
  public func write(into writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .bool(let truth): writer.bool(truth)
    case .integer(let number): writer.integer(number)
    case .real(let number): writer.real(number)
    case .string(let text): writer.string(text)
    case .array(let elements):
      writer.beginArray()
      for element in elements { element.write(into: &writer) }
      writer.endArray()
    case .object(let members):
      writer.beginObject()
      for member in members {
        writer.key(member.name)
        member.value.write(into: &writer)
      }
      writer.endObject()
    }
  }

  /// The value in the canonical form, which is for machines, digests and signatures.
  public var compactBytes: [UInt8] {
    var writer = JSONWriter()
    write(into: &writer)
    return writer.bytes
  }

  /// The value in a form for people. Each member has its own line. Each level is indented by two more spaces. The text
  /// ends with a newline.
  public var prettyBytes: [UInt8] {
    var bytes: [UInt8] = []
    appendPretty(to: &bytes, level: 0)
    bytes.append(0x0a)
    return bytes
  }

  private func appendPretty(to bytes: inout [UInt8], level: Int) {
    switch self {
    case .array(let elements) where !elements.isEmpty:
      for (i, element) in elements.enumerated() {
        Self.beginLine(of: &bytes, after: i == 0 ? "[" : ",", level: level + 1)
        element.appendPretty(to: &bytes, level: level + 1)
      }
      Self.beginLine(of: &bytes, after: "", level: level)
      bytes.append(UInt8(ascii: "]"))
    case .object(let members) where !members.isEmpty:
      for (i, member) in members.enumerated() {
        Self.beginLine(of: &bytes, after: i == 0 ? "{" : ",", level: level + 1)
        bytes += JSONValue.string(member.name).compactBytes
        bytes += ": ".utf8
        member.value.appendPretty(to: &bytes, level: level + 1)
      }
      Self.beginLine(of: &bytes, after: "", level: level)
      bytes.append(UInt8(ascii: "}"))
    default:
      bytes += compactBytes
    }
  }

  private static func beginLine(of bytes: inout [UInt8], after mark: String, level: Int) {
    bytes += mark.utf8
    bytes.append(0x0a)
    bytes.append(contentsOf: repeatElement(0x20, count: 2 * level))
  }
}
