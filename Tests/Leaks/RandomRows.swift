import SatchelValues
import TestSupport

/// Makes SQL that inserts and changes rows. Every text in it is a marker, which occurs in no other row and in no
/// earlier version of the row.
struct RandomRows {
  let dataset: RandomDataset
  /// The beginning of all markers that this value makes.
  let mark: String
  /// Whether the rows are hidden: only users of tier 9 may ever see them.
  let areHidden: Bool
  var random: SplitMix64
  private var count = 0
  /// The markers that were made since the last call of `takeMarkers`.
  private(set) var markers: [String] = []

  init(_ dataset: RandomDataset, mark: String, areHidden: Bool, random: SplitMix64) {
    self.dataset = dataset
    self.mark = mark
    self.areHidden = areHidden
    self.random = random
  }

  mutating func takeMarkers() -> [String] {
    defer { markers = [] }
    return markers
  }

  /// Whether the row was made as a hidden row. Its key shows that.
  static func isHidden(_ key: String) -> Bool {
    if key.hasPrefix("'") { return key.hasSuffix("h'") }
    return Int64(key).map { $0 % 2 != 0 } ?? false
  }

  private mutating func key(of table: RandomDataset.Table) -> String {
    let number = random.below(1 << 30)
    if table.isNumbered { return String(number * 2 + (areHidden ? 1 : 0)) }
    return "'\(String(number, radix: 36))\(areHidden ? "h" : "c")'"
  }

  private mutating func marker() -> String {
    count += 1
    let digits = String(count)
    let marker = mark + String(repeating: "0", count: 6 - digits.count) + digits + "Z"
    markers.append(marker)
    return marker
  }

  /// The marker in a value; nil: the value contains no marker.
  static func marker(in value: Value) -> String? {
    let bytes: [UInt8]
    switch value {
    case .text(let text): bytes = text
    case .blob(let blob): bytes = blob
    default: return nil
    }
    // A marker consists of letters and digits. In UTF-16, and in values that are not text, the other bytes are neither.
    let letters = bytes.filter { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) }
    return letters.isEmpty ? nil : String(decoding: letters, as: UTF8.self)
  }

  private mutating func words() -> String {
    switch random.below(6) {
    case 0: "NULL"
    // This text is not UTF-8, so JSON has it in base64.
    case 1: "CAST(x'\(hexadecimal(Array(marker().utf8)))ff' AS TEXT)"
    default: "'\(marker())'"
    }
  }

  private mutating func photo() -> String {
    switch random.below(4) {
    case 0: "x'\(hexadecimal(marker().utf8.flatMap { [$0, 0] }))'"
    case 1: "x'\(hexadecimal(Array(marker().utf8)))'"
    default: "NULL"
    }
  }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private mutating func value(_ column: String, of table: RandomDataset.Table, _ keys: (String) throws -> [String])
    rethrows
    -> String
  {
    switch column {
    case "tier": return areHidden ? "9" : String(random.below(5))
    case "owner":
      return areHidden ? random.one(of: ["'otto'", "'ivy'"]) : random.one(of: ["'una'", "'una'", "'otto'"])
    case "words":
      if table.rule != .own { return words() }
      let places = try keys("areas").filter { Self.isHidden($0) == areHidden }
      return places.isEmpty ? "NULL" : random.one(of: places)
    case "code": return random.once(in: 3) ? "NULL" : "'\(marker())'"
    case "likes": return String(random.below(10))
    case "gone": return random.once(in: 6) ? "1" : "0"
    default: return photo()
    }
  }

  /// The parents of a new row. nil: the row must be hidden, and there is no parent yet that hides it.
  private mutating func references(_ table: RandomDataset.Table, _ keys: (String) throws -> [String]) rethrows
    -> [String:
    String]?
  {
    var result: [String: String] = [:]
    // The row's own values do not hide it. So all its parents must be hidden.
    let mustHide = areHidden && table.rule == .all
    for reference in table.references {
      let all = try keys(reference.table)
      let isParent = reference.table != table.name
      let some = all.filter { mustHide && isParent ? Self.isHidden($0) : areHidden || !Self.isHidden($0) }
      if mustHide, isParent, some.isEmpty { return nil }
      let isNone = !(mustHide && isParent) && random.once(in: 5)
      result[reference.column] = some.isEmpty || isNone ? "NULL" : random.one(of: some)
    }
    return result
  }

  /// - Parameter keys: returns the keys of a table's rows in the database of the insert.
  mutating func insert(into table: RandomDataset.Table, _ keys: (String) throws -> [String]) rethrows -> String? {
    guard let references = try references(table, keys) else { return nil }
    var values: [String] = []
    let key = key(of: table)
    for column in table.columns {
      values.append(column == "id" ? key : try references[column] ?? value(column, of: table, keys))
    }
    return
      "INSERT INTO \(table.name) (\(table.columns.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
  }

  mutating func update(_ key: String, of table: RandomDataset.Table, _ keys: (String) throws -> [String]) rethrows
    -> String
  {
    var sets: [String] = []
    let own = table.columns.filter { $0 != "id" }
    let references = try references(table, keys) ?? [:]
    for _ in 0...random.below(3) {
      let column = random.one(of: own)
      if table.references.contains(where: { $0.column == column }) {
        if let other = references[column], other != key { sets.append("\(column) = \(other)") }
      } else {
        sets.append("\(column) = \(try value(column, of: table, keys))")
      }
    }
    return sets.isEmpty
      ? "SELECT 1" : "UPDATE \(table.name) SET \(sets.joined(separator: ", ")) WHERE id = \(key)"
  }
}
