import SatchelJSON
import SatchelValues

/// Parses lines of `changes.jsonl`. It remembers the names of tables and columns from line to line.
struct ChangeLineParser {
  private let limits: BundleLimits
  private var members = KnownTexts(Member.all.map(\.rawValue))
  private var operations = KnownTexts(Operation.all.map(\.rawValue))
  private var tables = KnownNames()
  private var columns = KnownNames()

  init(_ limits: BundleLimits) { self.limits = limits }

  private enum Member: String, CaseIterable {
    case table, op, key, generation, stamp, first, more, row, set, was, to, number, before, others, unit
    /// Stored, because `allCases` makes a new array at each call.
    static let all = allCases
  }

  private enum Operation: String, CaseIterable {
    case insert, update, delete, row, gone, rekey, block
    /// Stored for the same reason as `Member.all`.
    static let all = allCases
  }

  mutating func parse(_ line: [UInt8]) throws(LineProblem) -> ChangeLine {
    do {
      var draft = Draft()
      var scanner = JSONScanner(line, limits: JSONLimits(maxDepth: limits.jsonDepth))
      try scanner.beginObject()
      while let key = try scanner.nextKey(among: &members) {
        // Later releases may add members, for example the first hub of a change that came through another hub. So
        // unknown members are skipped.
        guard case .known(let place) = key else {
          try scanner.skipValue()
          continue
        }
        guard draft.seen.insert(place) else { throw LineProblem("a member occurs twice") }
        try read(Member.all[place], from: &scanner, into: &draft)
      }
      try scanner.finish()
      return try draft.finished()
    } catch let error as LineProblem {
      throw error
    } catch let error as JSONError {
      throw LineProblem("\(error.reason), at byte \(error.offset)")
    } catch {
      throw LineProblem("\(error)")
    }
  }

  private mutating func read(_ member: Member, from scanner: inout JSONScanner, into draft: inout Draft) throws {
    switch member {
    case .table: draft.table = try tables.next(in: &scanner)
    case .op:
      switch try scanner.readString(among: &operations) {
      case .known(let place): draft.operation = Operation.all[place]
      case .other(let word): draft.unknownOperation = String(decoding: word, as: UTF8.self)
      }
    case .key: draft.key = try scanner.readKey()
    case .generation: draft.generation = Generation(try scanner.readNatural())
    case .stamp: draft.stamp = Stamp(hexadecimal: try scanner.readString())
    case .first:
      guard let stamp = Stamp(hexadecimal: try scanner.readString()) else { throw LineProblem("first is not a stamp") }
      draft.first = stamp
    case .more: draft.more = try scanner.readBool()
    case .row: draft.row = try scanner.readFields(named: &columns)
    case .set: draft.set = try scanner.readFields(named: &columns)
    case .was: draft.was = try scanner.readFields(named: &columns)
    case .to: draft.to = try scanner.readKey()
    case .unit: draft.unit = UnitNumber(try scanner.readNatural())
    case .number: draft.number = EmissionNumber(try scanner.readNatural())
    case .before: draft.before = try scanner.readShortDigests()
    case .others: draft.others = try scanner.readOthers(named: &columns)
    }
  }

  /// The members of a line that were already read.
  private struct Draft {
    var seen = SeenPlaces()
    var table: Name?
    var operation: Operation?
    var unknownOperation: String?
    var key: RowKey?
    var generation: Generation?
    var stamp: Stamp?
    var first: Stamp?
    var more: Bool?
    var row: [Field]?
    var set: [Field]?
    var was: [Field]?
    var to: RowKey?
    var number: EmissionNumber?
    var before: [UInt64?] = []
    var others: [OthersWrite]?
    var unit: UnitNumber?

    func finished() throws(LineProblem) -> ChangeLine {
      guard let table, let key, let stamp, operation != nil || unknownOperation != nil else {
        throw LineProblem("table, op, key or stamp is missing")
      }
      let content: ChangeLine.Content
      switch (operation, generation, row, set, was) {
      case (.rekey, _, _, _, _): content = .rekey(to: try keys(stamp).to, number: try keys(stamp).number)
      case (.block, _, _, _, _): content = .block(last: try keys(stamp).to, number: try keys(stamp).number)
      case (.insert, .some, let row?, nil, nil): content = .insert(row)
      case (.update, .some, nil, let set?, let was?) where !set.isEmpty: content = .update(set: set, was: was)
      case (.delete, .some, nil, nil, let was?): content = .delete(was: was)
      case (.row, nil, let row?, nil, nil): content = .row(row)
      case (.gone, nil, nil, nil, nil) where stamp == .zero: content = .gone
      default: throw LineProblem("op \(word) is unknown or lacks its members")
      }
      if generation == nil && first != nil || first == nil && more != nil {
        throw LineProblem("first or more does not belong to it")
      }
      guard before.isEmpty || generation == nil && !content.isAboutKeys else {
        throw LineProblem("the members do not fit op \(word)")
      }
      if others != nil, row == nil || generation != nil {
        throw LineProblem("the members do not fit op \(word)")
      }
      if let unit, generation == nil || content.isAboutKeys || unit < UnitNumber(1) {
        throw LineProblem("unit \(unit) does not belong to it")
      }
      let first = first.map { FirstWrite(stamp: $0, isOnly: !(more ?? false)) }
      return ChangeLine(
        table: table, key: key, generation: generation, stamp: stamp, first: first, content: content, before: before,
        others: others, unit: unit)
    }

    /// The content of a `rekey` or `block` line. Throws if the line has members of other lines.
    private func keys(_ stamp: Stamp) throws(LineProblem) -> (to: RowKey, number: EmissionNumber) {
      guard let to, let number, generation == nil, row == nil, set == nil, was == nil, stamp == .zero else {
        throw LineProblem("the members do not fit op \(word)")
      }
      return (to, number)
    }

    private var word: String { operation?.rawValue ?? unknownOperation ?? "" }
  }
}

extension JSONScanner {
  /// Reads a list of the first eight bytes of digests, each as sixteen digits. null means that the row is absent.
  fileprivate mutating func readShortDigests() throws -> [UInt64?] {
    var digests: [UInt64?] = []
    try beginArray()
    while try nextElement() {
      guard digests.count < Manifest.Scope.mostFollowed else { throw LineProblem("before names too many digests") }
      if try peek() == .null {
        try readNull()
        digests.append(nil)
      } else {
        guard let digest = try Hexadecimal.bits(of: readString()) else {
          throw LineProblem("before holds a value that is not a digest")
        }
        digests.append(digest)
      }
    }
    return digests
  }
}
