/// Writes JSON as bytes in one canonical form. The same calls make the same bytes on every machine.
///
/// The output has no white space. The writer adds the commas. It escapes only characters that must be escaped. A real
/// is written as the shortest text that reads back as the same number. This text always has a point or an exponent, so
/// that no real looks like an integer.
///
/// The caller must make the calls in a valid order: `key` before each value of an object, and an end for each
/// beginning. The writer does not check the order.
public struct JSONWriter: Sendable {
  public private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// - Parameter capacity: the number of output bytes for which memory is allocated at once.
  public init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Deletes the output, and keeps its memory for new output.
  public mutating func reset() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// Returns the output without copying it, and begins with empty output. The new memory is as large as the returned
  /// output, but at most 1 MiB.
  public mutating func take() -> [UInt8] {
    var taken: [UInt8] = []
    taken.reserveCapacity(min(bytes.count, 1 << 20))
    swap(&taken, &bytes)
    needsComma = false
    return taken
  }

  /// Ends a line in the JSON Lines format. The next value begins a new line.
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

  /// Writes a key from bytes. The bytes must be well-formed UTF-8.
  public mutating func key(bytes name: [UInt8]) {
    separate()
    quote(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Appends JSON that the caller has prepared. The bytes must contain all commas that they need.
  mutating func raw(_ made: [UInt8]) {
    bytes.append(contentsOf: made)
    needsComma = false
  }

  /// Like `raw`, but `make` writes the prepared JSON directly into the output.
  mutating func appendMade(_ capacity: Int, _ make: (inout OutputSpan<UInt8>) -> Void) {
    bytes.append(addingCapacity: capacity, initializingWith: make)
    needsComma = false
  }

  /// Writes a key. `name` is the result of `encodedKey`, and contains the quotes and the colon.
  public mutating func key(encoded name: [UInt8]) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    bytes.append(contentsOf: name)
    needsComma = false
  }

  /// Returns the bytes that `key` writes. It is for a caller that writes the same key many times.
  public static func encodedKey(_ name: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.key(name)
    return writer.bytes
  }

  public mutating func string(_ text: String) {
    quote(text, after: needsComma ? UInt8(ascii: ",") : nil, before: nil)
    needsComma = true
  }

  /// Writes a string from bytes. The bytes must be well-formed UTF-8.
  public mutating func string(utf8 text: [UInt8]) {
    separate()
    quote(text)
  }

  /// Writes a string of ASCII that needs no escape, with one append. Nearly all strings are of this kind. For every
  /// other string, it writes nothing and returns false.
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
    // The magnitude of an `Int64` has at most 19 digits. So `bound` is at most 10^19, which fits into a `UInt64`.
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

  /// Writes a real number. The number must be finite.
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
  /// Writes a comma before the next value or key, if one is needed there. Another comma is needed after it.
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
  ///   - first, last: the bytes before and after the quotes. One append writes everything, because each append must
  ///     check for room.
  private mutating func quote(_ text: String, after first: UInt8?, before last: UInt8?) {
    let letters = text.utf8.span
    // Nearly all names and words need no escape. This is the fast way for them.
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
