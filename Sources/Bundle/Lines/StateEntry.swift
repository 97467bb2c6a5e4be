import SatchelCrypto
import SatchelJSON
import SatchelValues

/// The content of `state.json`: digests of a device's rows. A row counts as the hub sent it, with the device's own
/// changes that the hub has acknowledged.
public struct StateEntry: Hashable, Sendable {
  /// The number of rows in a table, and 64 sums of their digests.
  public struct Table: Hashable, Sendable {
    public static let sumCount = 64

    public let name: Name
    /// The columns in the digests, sorted by the bytes of their names.
    public let columns: [Name]
    public private(set) var rows: Int64 = 0
    public private(set) var sums = [Digest256](repeating: .zero, count: Self.sumCount)

    public init(_ name: Name, columns: [Name]) {
      self.name = name
      self.columns = columns
    }

    /// The index of the sum to which a row belongs: the first six bits of its key's digest.
    public static func sum(of key: Digest256) -> Int { key.first(bits: 6) }

    public mutating func add(_ digests: (key: Digest256, row: Digest256)) {
      rows += 1
      sums[Self.sum(of: digests.key)] += digests.row
    }

    public mutating func remove(_ digests: (key: Digest256, row: Digest256)) {
      rows -= 1
      sums[Self.sum(of: digests.key)] -= digests.row
    }

    /// The indexes of the sums that differ between two tables.
    public func differences(from other: Table) -> [Int] { sums.indices.filter { sums[$0] != other.sums[$0] } }
  }

  /// The hub's request for the rows of some sums of a table.
  public struct Question: Hashable, Sendable {
    public let table: Name
    /// The indexes of the sums, in ascending order.
    public let sums: [Int]

    public init(_ table: Name, sums: [Int]) {
      self.table = table
      self.sums = sums
    }
  }

  /// The device's answer: the rows of some sums of a table.
  public struct Answer: Hashable, Sendable {
    public let question: Question
    public let rows: [KeyedDigest]

    public init(_ question: Question, rows: [KeyedDigest]) {
      self.question = question
      self.rows = rows
    }
  }

  public struct KeyedDigest: Hashable, Sendable {
    public let key: RowKey
    public let digest: Digest256

    public init(_ key: RowKey, _ digest: Digest256) {
      self.key = key
      self.digest = digest
    }
  }

  /// The most rows in all answers of a bundle. Further sums are left out.
  public static let mostRows = 100_000
  public static let mostBytes = 16 << 20

  /// The tables, sorted by their names.
  public let tables: [Table]
  public let answers: [Answer]

  public init(tables: [Table], answers: [Answer] = []) {
    self.tables = tables.sorted { $0.name < $1.name }
    self.answers = answers.sorted { $0.question.table < $1.question.table }
  }
}

// MARK: JSON

extension StateEntry {
  var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("tables")
    writer.beginArray()
    for table in tables { table.write(into: &writer) }
    writer.endArray()
    writer.key("answers")
    writer.beginArray()
    for answer in answers { answer.write(into: &writer) }
    writer.endArray()
    writer.endObject()
    writer.endLine()
    return writer.bytes
  }

  /// Throws a `BundleError` if the bytes are not a valid `state.json`.
  init(json bytes: [UInt8]) throws(BundleError) {
    let document: JSONValue
    do { document = try JSONValue.parse(bytes, limits: JSONLimits()) } catch {
      throw .entry("state.json", "is not JSON (\(error.reason), at byte \(error.offset))")
    }
    let tables = try Self.list(document, "tables").map(Table.init(json:))
    let answers = try Self.list(document, "answers").map(Answer.init(json:))
    guard zip(tables, tables.dropFirst()).allSatisfy({ $0.name < $1.name }),
      zip(answers, answers.dropFirst()).allSatisfy({ $0.question.table < $1.question.table }),
      answers.reduce(0, { $0 + $1.rows.count }) <= Self.mostRows
    else { throw .entry("state.json", "has tables out of order, or too many rows") }
    let names = Set(tables.map(\.name))
    for answer in answers where !names.contains(answer.question.table) {
      throw .entry("state.json", "has an answer about \(answer.question.table.shortened), but no digests of it")
    }
    self.init(tables: tables, answers: answers)
  }

  fileprivate static func list(_ value: JSONValue, _ name: String) throws(BundleError) -> [JSONValue] {
    guard let list = value[name]?.arrayValue else { throw .entry("state.json", "has no list of \(name)") }
    return list
  }

  fileprivate static func text(_ value: JSONValue, _ name: String) throws(BundleError) -> String {
    guard let text = value[name]?.stringValue else {
      throw .entry("state.json", "has no text \(name) where one belongs")
    }
    return text
  }
}

extension StateEntry.Table {
  fileprivate func write(into writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("table")
    writer.string(name.text)
    writer.key("columns")
    writer.beginArray()
    for column in columns { writer.string(column.text) }
    writer.endArray()
    writer.key("rows")
    writer.integer(rows)
    writer.key("sums")
    writer.beginObject()
    for (place, sum) in sums.enumerated() where sum != .zero {
      writer.key(String(place))
      writer.string(sum.hexadecimal)
    }
    writer.endObject()
    writer.endObject()
  }

  fileprivate init(json value: JSONValue) throws(BundleError) {
    name = Name(try StateEntry.text(value, "table"))
    columns = try StateEntry.list(value, "columns").map { item throws(BundleError) in
      guard let name = item.stringValue else { throw .entry("state.json", "has a column name that is not a text") }
      return Name(name)
    }
    guard zip(columns, columns.dropFirst()).allSatisfy({ $0 < $1 }), let rows = value["rows"]?.integerValue,
      (0...largestCount).contains(rows), let members = value["sums"]?.objectValue
    else { throw .entry("state.json", "has columns out of order, or no rows and sums, for \(name)") }
    self.rows = rows
    var last = -1
    for member in members {
      guard let place = Int(member.name), String(place) == member.name, place > last, place < Self.sumCount,
        let sum = member.value.stringValue.flatMap({ Digest256(hexadecimal: $0) }), sum != .zero
      else { throw .entry("state.json", "has an invalid sum of \(name)") }
      sums[place] = sum
      last = place
    }
  }
}

extension StateEntry.Question {
  var json: JSONValue {
    ["table": .string(table.text), "sums": .array(sums.map { .integer(Int64($0)) })]
  }

  /// The questions as one text, for storage in a database.
  public static func text(of questions: [StateEntry.Question]) -> String {
    String(decoding: JSONValue.array(questions.map(\.json)).compactBytes, as: UTF8.self)
  }

  /// Parses a text that `text(of:)` made.
  public static func parse(list text: String) -> [StateEntry.Question] {
    let list = try? JSONValue.parse(Array(text.utf8), limits: JSONLimits()).arrayValue
    return (list ?? []).compactMap { StateEntry.Question(json: $0) }
  }

  /// nil if the value is no valid question.
  init?(json value: JSONValue) {
    guard let table = value["table"]?.stringValue, let list = value["sums"]?.arrayValue else { return nil }
    let sums = list.compactMap { $0.integerValue.flatMap { Int(exactly: $0) } }
    guard sums.count == list.count, !sums.isEmpty, zip(sums, sums.dropFirst()).allSatisfy({ $0 < $1 }),
      sums.allSatisfy({ (0..<StateEntry.Table.sumCount).contains($0) })
    else { return nil }
    self.init(Name(table), sums: sums)
  }
}

extension StateEntry.Answer {
  fileprivate func write(into writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("table")
    writer.string(question.table.text)
    writer.key("sums")
    writer.beginArray()
    for sum in question.sums { writer.integer(Int64(sum)) }
    writer.endArray()
    writer.key("rows")
    writer.beginArray()
    for row in rows {
      writer.beginObject()
      writer.key("key")
      writer.string(utf8: canonicalKey(row.key))
      writer.key("digest")
      writer.string(row.digest.hexadecimal)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }

  fileprivate init(json value: JSONValue) throws(BundleError) {
    guard let question = StateEntry.Question(json: value) else {
      throw .entry("state.json", "answers a question that is not possible")
    }
    self.question = question
    rows = try StateEntry.list(value, "rows").map { item throws(BundleError) in
      let text = try StateEntry.text(item, "key")
      guard let key = try? RowKey(canonical: Array(text.utf8)),
        let digest = Digest256(hexadecimal: try StateEntry.text(item, "digest"))
      else { throw .entry("state.json", "has a row without a valid key or digest") }
      return .init(key, digest)
    }
    guard Set(rows.map(\.key)).count == rows.count else {
      throw .entry("state.json", "names a row twice in its answer about \(question.table.shortened)")
    }
  }
}
