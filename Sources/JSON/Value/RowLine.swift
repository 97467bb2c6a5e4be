import SatchelValues

/// Writes a line of JSON with a row's values. The text between the values is the same for all rows of the table.
///
/// Satchel computes a digest of such a line for every row of a bundle. Therefore writing must be fast. If all values
/// are plain, the writer allocates room only once for the line.
public struct RowLine: Sendable {
  /// The text before a value, and the position of the value's column.
  public struct Place: Sendable {
    let before: [UInt8]
    let position: Int

    public init(before: [UInt8], position: Int) {
      self.before = before
      self.position = position
    }
  }

  private let places: [Place]
  private let end: [UInt8]
  /// The bytes of all fixed texts, plus `mostAround` bytes for each value.
  private let frame: Int

  /// The limit on the bytes that a value needs in addition to its own size. It is enough for any number and any pair of
  /// quotes.
  private static let mostAround = 32

  /// - Parameter end: the text after the last value.
  public init(_ places: [Place], end: [UInt8]) {
    self.places = places
    self.end = end
    frame = places.reduce(end.count) { $0 + $1.before.count + Self.mostAround }
  }

  /// Writes the line for a row.
  public func write(_ row: Row, into writer: inout JSONWriter) {
    var next = 0
    while next < places.count {
      // A line may contain a value twice: once in the row's key, and once in its column.
      let capacity = places[next...].reduce(frame) { $0 + row.values[$1.position].byteCount }
      writer.appendMade(capacity) { room in
        while next < places.count, room.appendPlain(row.values[places[next].position], after: places[next].before) {
          next += 1
        }
      }
      if next == places.count { break }
      writer.raw(places[next].before)
      writer.value(row.values[places[next].position])
      next += 1
    }
    writer.raw(end)
  }

  /// Writes the line for a row. The function `value` returns the value of each column.
  public func write(_ value: (Int) -> Value, into writer: inout JSONWriter) {
    for place in places {
      writer.raw(place.before)
      writer.value(value(place.position))
    }
    writer.raw(end)
  }
}

extension OutputSpan<UInt8> {
  /// Appends `made` and then a value. Returns false, and appends nothing, if the value is not plain. Plain values are
  /// NULL, numbers without a tag, and ASCII texts without escapes.
  fileprivate mutating func appendPlain(_ value: Value, after made: [UInt8]) -> Bool {
    switch value {
    case .text(let text):
      guard JSONText.endOfPlain(text.span, from: 0) == text.count else { return false }
      append(allOf: made)
      append(UInt8(ascii: "\""))
      append(allOf: text)
      append(UInt8(ascii: "\""))
    case .integer(let number):
      guard number.magnitude < 1 << 53 else { return false }
      append(allOf: made)
      appendDigits(of: number)
    case .null:
      append(allOf: made)
      for letter in "null".utf8 { append(letter) }
    case .real(let number):
      guard number.isFinite else { return false }
      append(allOf: made)
      for letter in number.description.utf8 { append(letter) }
    case .blob: return false
    }
    return true
  }

  private mutating func appendDigits(of number: Int64) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var divisor: UInt64 = 1
    while number.magnitude / divisor >= 10 { divisor *= 10 }
    var rest = number.magnitude
    while divisor > 0 {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor))
      rest %= divisor
      divisor /= 10
    }
  }

  /// Appends bytes with one copy. The span must have enough room.
  private mutating func append(allOf bytes: [UInt8]) {
    unsafe bytes.withUnsafeBufferPointer { source in
      unsafe withUnsafeMutableBufferPointer { room, count in
        precondition(room.count - count >= source.count, "there is no room for the bytes")
        _ = unsafe room.extracting(count...).initialize(fromContentsOf: source)
        count += source.count
      }
    }
  }
}
