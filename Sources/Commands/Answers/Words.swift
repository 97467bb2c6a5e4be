import SatchelGeometry
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// The form of numbers, times and values in answers to people.
enum Words {
  /// A number and its noun, such as `1 change` or `12 changes`.
  static func count(_ number: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
    "\(number) \(number == 1 ? one : many ?? one + "s")"
  }

  /// A size in KiB, rounded up.
  static func kibibytes(_ bytes: Int64) -> String { "\((bytes + 1023) >> 10) KiB" }

  /// A size in its largest useful unit, rounded down.
  static func size(_ bytes: Int64) -> String {
    switch bytes {
    case ..<(1 << 20): "\(bytes >> 10) KiB"
    case ..<(10 << 30): "\(bytes >> 20) MiB"
    default: "\(bytes >> 30) GiB"
    }
  }

  /// The time since an event, in its largest useful unit.
  static func age(of time: Int64, now: Int64) -> String {
    now - time < 90_000 ? "just now" : "\(span(now - time)) ago"
  }

  /// A length of time, in its largest useful unit.
  static func span(_ milliseconds: Int64) -> String {
    let seconds = milliseconds / 1000
    switch seconds {
    case ..<90: return count(seconds, "second")
    case ..<5400: return "\((seconds + 30) / 60) minutes"
    case ..<172_800: return "\((seconds + 1800) / 3600) hours"
    default: return "\((seconds + 43_200) / 86_400) days"
    }
  }

  /// How far a clock is ahead or behind, in words. nil if the difference is at most a minute. A negative difference is
  /// a lower bound: the clock may be further behind.
  static func skew(_ milliseconds: Int64) -> String? {
    if milliseconds.magnitude <= 60_000 { return nil }
    let span = span(Int64(clamping: milliseconds.magnitude))
    return milliseconds > 0 ? "ahead by \(span)" : "behind by \(span) or more"
  }

  static func age(of time: Int64?, now: Int64) -> String { time.map { age(of: $0, now: now) } ?? "never" }

  /// A value, as a table for people shows it.
  static func value(_ value: Value) -> String {
    switch value {
    case .null: return "NULL"
    case .integer(let number): return String(number)
    case .real(let number): return "\(number)"
    case .text(let bytes): return String(decoding: bytes, as: UTF8.self)
    case .blob(let bytes):
      if let stored = StoredGeometry(bytes) { return stored.geometry.shortWords }
      let start = Hexadecimal.text(of: bytes.prefix(8))
      return "x'\(start)\(bytes.count > 8 ? "..." : "")' (\(count(bytes.count, "byte")))"
    }
  }

  /// Cuts very long text, so that it fits on a page. The length of the whole text follows.
  static func clipped(_ words: String) -> String {
    let most = 2000
    guard words.utf8.count > most * 4 else { return words }
    return String(words.unicodeScalars.prefix(most)) + "... (\(count(words.utf8.count, "byte")) in all)"
  }

  /// A number with commas between its thousands, such as `10,000`.
  static func grouped(_ number: some BinaryInteger) -> String {
    let digits = Array(String(number.magnitude))
    let text = digits.indices.map { ($0 > 0 && (digits.count - $0) % 3 == 0 ? "," : "") + String(digits[$0]) }.joined()
    return number < 0 ? "-\(text)" : text
  }

  /// The first `most` characters of a text. If the text is longer, `...` follows.
  static func beginning(_ words: String, _ most: Int) -> String {
    let start = words.unicodeScalars.prefix(most)
    return start.endIndex == words.unicodeScalars.endIndex ? words : String(start) + "..."
  }

  /// The first line of a text, cut after 40 characters.
  static func short(_ words: String) -> String {
    let most = 40
    let line = words.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    return line.count > most ? line.prefix(most) + "..." : line
  }

  static func key(_ key: RowKey) -> String { key.values.map(value).joined(separator: ", ") }

  static func fields(_ fields: [Field]) -> String {
    fields.map { "\($0.name)=\(value($0.value))" }.joined(separator: " ")
  }

  /// A path as a person types it in a shell, with quotes if needed. For example, the label of a stick may contain
  /// spaces.
  static func typed(_ path: String) -> String {
    if path.utf8.allSatisfy(isPlainInShell) { return path }
    return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }

  /// Whether a byte is a letter, a digit, or one of `-./_`.
  private static func isPlainInShell(_ byte: UInt8) -> Bool {
    switch byte {
    case 45...57, 65...90, 95, 97...122: true
    default: false
    }
  }

  /// Missing numbers as ranges, such as `2, 5-7`.
  static func ranges(_ ranges: [ClosedRange<Int64>]) -> String {
    ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ", ")
  }

  /// If no bundle came from a device for this time, in milliseconds, the device is reported.
  static let usualSilence: Int64 = 30 * 86_400_000

  /// The counts of tables, such as `reviews 10, photos 2`.
  static func tables(_ counts: [(table: Name, count: Int)]) -> String {
    counts.map { "\($0.table) \($0.count)" }.joined(separator: ", ")
  }
}

extension JSONValue {
  static func time(_ milliseconds: Int64?) -> JSONValue {
    milliseconds.map { .string(UTCTime.text(milliseconds: $0)) } ?? .null
  }

  static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

  static func optional(_ number: Int64?) -> JSONValue { number.map { .integer($0) } ?? .null }

  static func fields(_ fields: [Field]?) -> JSONValue {
    guard let fields else { return .null }
    return .object(fields.map { Member(name: $0.name.text, value: JSONValue($0.value)) })
  }

  static func tables(_ counts: [(table: Name, count: Int)]) -> JSONValue {
    .object(counts.map { Member(name: $0.table.text, value: .integer(Int64($0.count))) })
  }

  static func strings(_ list: [String]) -> JSONValue { .array(list.map { .string($0) }) }

  static func key(_ key: RowKey) -> JSONValue { .array(key.values.map { JSONValue($0) }) }
}

extension Words {
  /// Says why a database was not shrunk. Empty if it was shrunk.
  static func notShrunk(_ reason: String?) -> TerminalText {
    reason.map { "The database keeps its size (\($0)): let the app that can read it run VACUUM.\n" } ?? ""
  }
}
