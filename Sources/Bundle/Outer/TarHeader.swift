/// One block of a tar that describes the following entry. It is untrusted.
struct TarHeader {
  enum Kind {
    case file
    /// Describes the following entry further.
    case pax
    /// A link, a folder, a device, a sparse file, a long name, ...
    case other
  }

  static let blockBytes = 512

  let name: [UInt8]
  let kind: Kind
  var size: Int64

  /// Reads a header in POSIX or GNU form, whose checksum must be right.
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
    // A prefix would be part of the name. GNU's header may have the map of a sparse file in the place of the prefix.
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

  /// Octal digits, which end with a space or zero byte if the field is longer.
  private static func octal(_ field: ArraySlice<UInt8>) -> Int64? {
    let digits = field.prefix { (48...55).contains($0) }
    guard !digits.isEmpty, field[digits.endIndex...].allSatisfy({ $0 == 0 || $0 == 0x20 }) else { return nil }
    return digits.reduce(0) { $0 << 3 | Int64($1 - 48) }
  }

  /// The size of a file beyond 8 GiB, for which the field has too few octal digits.
  private static func binary(_ field: ArraySlice<UInt8>) -> Int64? {
    guard field.first == 0x80, field.dropFirst().prefix(3).allSatisfy({ $0 == 0 }) else { return nil }
    let number = field.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int64(exactly: number)
  }

  /// The size among the records of a pax header; nil if there is none. Each record has the form `<length>
  /// <name>=<value>\n`. The records may also contain times, which are ignored. All other records are refused. A name, a
  /// link or a map of a sparse file would change the entry.
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
