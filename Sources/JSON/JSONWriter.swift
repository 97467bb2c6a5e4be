/// Appends JSON to bytes in one canonical form: the same calls make the same bytes, on every machine.
///
/// There is no white space, and commas are added automatically. Only characters that must be escaped are escaped. A
/// real is the shortest text that reads back as the same number; it always has a point or an exponent, so no integer
/// looks like one.
///
/// The calls must come in a valid order (`key` before each value of an object, an end for each beginning): the writer
/// does not check it.
public struct JSONWriter: Sendable {
  public private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// - Parameter capacity: the number of bytes for which there is room from the beginning.
  public init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Forgets the output and keeps the memory.
  public mutating func reset() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// Returns the output as the only copy, and begins again with memory for as much, up to a MiB.
  public mutating func take() -> [UInt8] {
    var taken: [UInt8] = []
    taken.reserveCapacity(min(bytes.count, 1 << 20))
    swap(&taken, &bytes)
    needsComma = false
    return taken
  }

  /// Ends a line of JSON lines: the next value begins a new text.
  public mutating func endLine() {
    bytes.append(0x0a)
    needsComma = false
  }

  public mutating func beginObject() { open(UInt8(ascii: "{")) }
  public mutating func endObject() { close(UInt8(ascii: "}")) }
  public mutating func beginArray() { open(UInt8(ascii: "[")) }
  public mutating func endArray() { close(UInt8(ascii: "]")) }

  public mutating func key(_ name: String) {
    quote(name, after: needsComma ? UInt8(ascii: ",") : nil, before: UInt8(ascii: ":"))
    needsComma = false
  }

  /// A key from bytes that are well-formed UTF-8.
  public mutating func key(bytes name: [UInt8]) {
    separate()
    quote(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Complete JSON bytes, with all commas that they need.
  mutating func raw(_ made: [UInt8]) {
    bytes.append(contentsOf: made)
    needsComma = false
  }

  /// The same for bytes that are made in place.
  mutating func appendMade(_ capacity: Int, _ make: (inout OutputSpan<UInt8>) -> Void) {
    bytes.append(addingCapacity: capacity, initializingWith: make)
    needsComma = false
  }

  /// A key with its quotes and its colon, as `encodedKey` made it.
  public mutating func key(encoded name: [UInt8]) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    bytes.append(contentsOf: name)
    needsComma = false
  }

  /// The output of `key`, for a caller that writes it again and again.
  public static func encodedKey(_ name: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.key(name)
    return writer.bytes
  }

  public mutating func string(_ text: String) {
    quote(text, after: needsComma ? UInt8(ascii: ",") : nil, before: nil)
    needsComma = true
  }

  /// A string from bytes that are well-formed UTF-8.
  public mutating func string(utf8 text: [UInt8]) {
    separate()
    quote(text)
  }

  /// Writes a string of ASCII that needs no escape, as nearly all are, in one go. Returns false, and writes nothing,
  /// for any other bytes.
  mutating func plainString(utf8 text: [UInt8]) -> Bool {
    let letters = text.span
    guard JSONText.endOfPlain(letters, from: 0) == letters.count else { return false }
    let comma = needsComma
    bytes.append(addingCapacity: letters.count + 3) { room in
      if comma { room.append(UInt8(ascii: ",")) }
      room.append(UInt8(ascii: "\""))
      for place in letters.indices { room.append(letters[place]) }
      room.append(UInt8(ascii: "\""))
    }
    needsComma = true
    return true
  }

  public mutating func integer(_ number: Int64) {
    separate()
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = number.magnitude
    // 10^19 is the last power that fits, and no magnitude here has 20 digits.
    var count = 1
    var bound: UInt64 = 10
    while count < 19, rest >= bound {
      bound &*= 10
      count += 1
    }
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: count))
    var place = bytes.count
    while rest > 0 {
      place -= 1
      bytes[place] += UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }

  /// A finite number.
  public mutating func real(_ number: Double) {
    precondition(number.isFinite, "JSON has no infinities")
    separate()
    bytes.append(contentsOf: number.description.utf8)
  }

  public mutating func bool(_ truth: Bool) {
    separate()
    bytes.append(contentsOf: (truth ? "true" : "false").utf8)
  }

  public mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
  }
}

extension JSONWriter {
  /// Writes the comma that a value or key needs before it. Anything after a finished value needs a comma.
  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  /// - Parameters:
  ///   - first, last: the bytes before and after the quotes. Everything is appended at once, because each append must
  ///     make
  ///     room.
  private mutating func quote(_ text: String, after first: UInt8?, before last: UInt8?) {
    let letters = text.utf8.span
    // Nearly all names and words need no escape.
    let isPlain = JSONText.endOfPlain(letters, from: 0) == letters.count
    bytes.append(addingCapacity: letters.count + 4) { room in
      if let first { room.append(first) }
      if !isPlain { return }
      room.append(UInt8(ascii: "\""))
      for place in letters.indices { room.append(letters[place]) }
      room.append(UInt8(ascii: "\""))
      if let last { room.append(last) }
    }
    if isPlain { return }
    quote(Array(text.utf8))
    if let last { bytes.append(last) }
  }

  private mutating func quote(_ text: [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var written = 0
    var i = JSONText.endOfPlain(text.span, from: 0)
    while i < text.count {
      let byte = text[i]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        bytes.append(contentsOf: text[written..<i])
        escape(byte)
        written = i + 1
      }
      i = JSONText.endOfPlain(text.span, from: i + 1)
    }
    bytes.append(contentsOf: text[written...])
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0a: bytes.append(UInt8(ascii: "n"))
    case 0x0c: bytes.append(UInt8(ascii: "f"))
    case 0x0d: bytes.append(UInt8(ascii: "r"))
    default:
      let low = byte & 0xf
      bytes.append(contentsOf: "u00".utf8)
      bytes.append(UInt8(ascii: "0") + byte >> 4)
      bytes.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
    }
  }
}
