/// A block of a tar that describes the following entry. Its content is untrusted.
struct TarHeader {
  enum Kind {
    case file
    /// A pax header, which describes the following entry further.
    case pax
    /// Any other kind, for example a link, a folder, a device or a sparse file.
    case other
  }

  static let blockBytes = 512

  let name: [UInt8]
  let kind: Kind
  var size: Int64

  /// Parses a header in POSIX or GNU form. Throws if its checksum is wrong.
  init(_ block: [UInt8]) throws(BundleError) {
    let magic = block[257..<265]
    guard magic.elementsEqual("ustar\u{0}00".utf8) || magic.elementsEqual("ustar  \u{0}".utf8) else {
      throw .notABundle("it holds no tar archive")
    }
    let sum = block.indices.reduce(0) { $0 + Int64((148..<156).contains($1) ? 0x20 : block[$1]) }
    guard block[154] == 0, block[155] == 0x20, Self.octal(block[148..<154]) == sum else {
      throw .notABundle("a header's checksum is wrong")
    }
    guard let size = Self.octal(block[124..<136]) ?? Self.binary(block[124..<136]) else {
      throw .notABundle("a header has no size")
    }
    let nameBytes = block[..<100]
    let end = nameBytes.firstIndex(of: 0) ?? nameBytes.endIndex
    // Bytes in these fields would mean more than a plain file: a link, or a prefix that makes the name longer. In a GNU
    // header the bytes of the prefix may be the map of a sparse file.
    let hasMore = [nameBytes[end...], block[157..<257], block[345...]].contains { $0.contains { $0 != 0 } }
    name = Array(nameBytes[..<end])
    kind =
      switch block[156] {
      case UInt8(ascii: "0"), 0: hasMore ? .other : .file
      case UInt8(ascii: "x"): .pax
      default: .other
      }
    self.size = size
  }

  /// Parses octal digits. If the field is longer, a space or zero byte must follow them.
  private static func octal(_ field: ArraySlice<UInt8>) -> Int64? {
    let digits = field.prefix { (48...55).contains($0) }
    guard !digits.isEmpty, field[digits.endIndex...].allSatisfy({ $0 == 0 || $0 == 0x20 }) else { return nil }
    return digits.reduce(0) { $0 << 3 | Int64($1 - 48) }
  }

  /// Parses the binary size of a file that is too large for the octal digits of the field, beyond 8 GiB.
  private static func binary(_ field: ArraySlice<UInt8>) -> Int64? {
    guard field.first == 0x80, field.dropFirst().prefix(3).allSatisfy({ $0 == 0 }) else { return nil }
    let number = field.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int64(exactly: number)
  }

  /// The size in the records of a pax header; nil if they give no size. A record has the form `<length>
  /// <name>=<value>\n`. Times are ignored. All other records are refused: a name, a link or the map of a sparse file
  /// would change the entry.
  static func paxSize(_ records: [UInt8]) throws(BundleError) -> Int64? {
    var size: Int64?
    var rest = records[...]
    while !rest.isEmpty {
      let digits = rest.prefix { (48...57).contains($0) }
      guard (1...4).contains(digits.count), let length = Int(String(decoding: digits, as: UTF8.self)),
        length <= rest.count,
        length > digits.count + 2
      else { throw .notABundle("a malformed pax header") }
      let record = rest.prefix(length)
      rest = rest.dropFirst(length)
      let parts = String(decoding: record.dropFirst(digits.count + 1).dropLast(), as: UTF8.self)
        .split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard record[digits.endIndex] == 0x20, record.last == 0x0a, parts.count == 2 else {
        throw .notABundle("a malformed pax header")
      }
      switch parts[0] {
      case "size":
        guard size == nil, parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(parts[1]) else {
          throw .notABundle("a pax header without a size")
        }
        size = number
      case "mtime", "atime", "ctime": break
      default: throw .notABundle("a pax header with other entries than a size and times")
      }
    }
    return size
  }
}
