import TestSupport

/// The numbers that people counted, and the elements that they put into sets and took out. Each device's user has a
/// row, and all people change one more row. Each addition must count once, whatever happens to hubs and databases. An
/// element that a person put in must be there, unless it was taken out.
struct Tally {
  static let common = "all"
  static let rows = (0..<Season.devices).map(String.init) + [common]

  /// One element of the set in a row. No two people add the same element.
  struct Element: Hashable {
    let row: String
    let text: String
  }

  /// The work of one writer.
  struct Work {
    fileprivate var counts: [String: Int64] = [:]
    fileprivate var added: Set<Element> = []
    fileprivate var removed: Set<Element> = []

    var elements: Set<Element> { added.union(removed) }
  }

  private var byDevice: [String: Work] = [:]
  /// The office's work. If the hub loses a time, this work is lost: a number does not show who added which part.
  var atHub = Work()
  /// Rows to which a lost device added. It is unknown how much of its work arrived.
  private var uncertain: Set<String> = []
  /// Elements that a lost device put in or took out. It is unknown which of these changes arrived.
  private var uncertainElements: Set<Element> = []

  static func stock(_ app: FieldApp) throws {
    try app.execute(FieldApp.counters)
    for row in rows { try app.database.run("INSERT INTO counters (id, n) VALUES (:id, 0)", ["id": .string(row)]) }
  }

  private mutating func change(_ device: String?, _ body: (inout Work) -> Void) {
    if let device { body(&byDevice[device, default: Work()]) } else { body(&atHub) }
  }

  /// - Parameter device: the device that adds. nil: the office.
  mutating func add(_ more: Int64, to row: String, by device: String?) {
    change(device) { $0.counts[row, default: 0] += more }
  }

  mutating func put(_ element: Element, by device: String?) { change(device) { $0.added.insert(element) } }

  mutating func takeOut(_ element: Element, by device: String?) { change(device) { $0.removed.insert(element) } }

  mutating func lose(_ device: String) {
    guard let lost = byDevice.removeValue(forKey: device) else { return }
    uncertain.formUnion(lost.counts.keys)
    uncertainElements.formUnion(lost.elements)
  }

  /// Records that the hub was lost. Each device brings its own number to a new hub, and it is unknown which parts are
  /// the same.
  mutating func loseHub() { uncertain = Set(Self.rows) }

  /// The number that a row must have. nil: it is unknown.
  func expected(in row: String) -> Int64? {
    if uncertain.contains(row) { return nil }
    return atHub.counts[row, default: 0] + byDevice.values.reduce(0) { $0 + $1.counts[row, default: 0] }
  }

  /// Whether an element must be in its set. nil: it is unknown.
  func isExpected(_ element: Element) -> Bool? {
    if uncertain == Set(Self.rows) || uncertainElements.contains(element) { return nil }
    let all = [atHub] + byDevice.values
    return all.contains { $0.added.contains(element) } && !all.contains { $0.removed.contains(element) }
  }

  /// All elements that were put in.
  var elements: Set<Element> {
    byDevice.values.reduce(atHub.elements) { $0.union($1.elements) }
  }
}

extension Season {
  func count(on device: FieldDevice, _ random: inout SplitMix64) throws {
    let isOffice = random.once(in: 5)
    guard let app = try isOffice ? admin() : device.app() else { return }
    let row = random.once(in: 2) ? Tally.common : String(device.index)
    let more = Int64(1 + random.below(9))
    let writer = isOffice ? nil : device.name
    if random.once(in: 2) { return try changeSet(in: app, by: writer, row, &random) }
    try app.count(more, in: row)
    tally.add(more, to: row, by: writer)
    say("\(writer ?? "hub") adds \(more) to \(row)")
  }

  /// The writer puts a new element into a set, takes an element out, or does both in one write.
  private func changeSet(
    in app: FieldApp, by writer: String?, _ row: String, _ random: inout SplitMix64
  ) throws {
    var set = try app.tags(of: row)
    let kind = random.below(3)
    if kind != 0, let text = set.randomElement(using: &random) {
      set.removeAll { $0 == text }
      tally.takeOut(.init(row: row, text: text), by: writer)
      say("\(writer ?? "hub") takes \(text) out of \(row)")
    }
    if kind != 1 {
      let text = newValue()
      set.append(text)
      tally.put(.init(row: row, text: text), by: writer)
      say("\(writer ?? "hub") puts \(text) into \(row)")
    }
    try app.setTags(set, of: row)
  }

  func checkCounts() throws {
    for (row, n) in try admin().counts() {
      guard let expected = tally.expected(in: row), n != expected else { continue }
      throw Wrong("the counter \(row) is \(n), and people added \(expected)")
    }
    try checkSets()
  }

  private func checkSets() throws {
    var sets: [String: Set<String>] = [:]
    for row in Tally.rows { sets[row] = try Set(admin().tags(of: row)) }
    for element in tally.elements.sorted(by: { $0.text < $1.text }) {
      let isThere = sets[element.row]?.contains(element.text) == true
      guard let expected = tally.isExpected(element), isThere != expected else { continue }
      throw Wrong("\(element.text) \(isThere ? "came back into" : "is missing in") the set \(element.row)")
    }
  }
}
