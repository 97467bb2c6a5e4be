import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import TestSupport

/// The error of a history that reveals hidden data.
struct Leak: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// One random history at two hubs. Everything that una may see is the same at both hubs. Everything that she may never
/// see differs: the number, content, writers and times of hidden rows, and the conflicts of other devices. Una's device
/// works with both hubs: its exports go to both, and its imports come from either. It must not be able to find out
/// which hub sent a bundle.
///
/// Otto may see hidden rows too, and works on hidden and on common rows. Ivy's device has only hidden rows.
final class TwinHistory {
  private static let length = 9
  static let una = "tab"
  static let otto = "phone"
  /// This name begins like the name of una's device.
  static let ivy = "tab-2"
  private static let hiddenMark = "HiddenQx"

  private var random: SplitMix64
  private let dataset: RandomDataset
  private let twins: [TwinHubs]
  /// Makes the rows that both hubs have.
  private var common: RandomRows
  /// Makes the hidden rows, separately for each hub.
  private var hidden: [RandomRows]
  /// For each hub, the number of hidden events between two common events.
  private let bustle: [Int]
  private var tier: Int64
  /// Whether the history ends with clean rounds and a check of the rows. They take as long as the history, so only some
  /// histories have them.
  private let checksRows: Bool
  private var step: Int64 = 100
  /// Bundles of una's device that were not carried yet, and bundles for her device.
  private var outgoing: [[UInt8]] = []
  private var incoming: [[UInt8]] = []
  /// All markers in rows that both hubs have. Markers that una has seen or written are left out.
  private var unseen: [String: Marker] = [:]
  /// The keys of rows that the first hub deleted and the second hub hid from una.
  private var departed: Set<String> = []
  /// Random choices of these rows.
  private var leaving: SplitMix64
  /// The number of these rows that una's device had.
  private(set) var departures = 0
  private let trace: ((String) -> Void)?
  private(set) var emissions = 0

  init(seed: UInt64, on ground: TwinFixture, in folder: String, trace: ((String) -> Void)? = nil) throws {
    self.trace = trace
    var random = SplitMix64(seed: seed)
    leaving = SplitMix64(seed: ~seed)
    dataset = ground.dataset
    common = ground.rows
    common.random = SplitMix64(seed: random.next())
    hidden = (0..<2).map {
      RandomRows(
        ground.dataset, mark: "\(Self.hiddenMark)\($0)", areHidden: true,
        random: SplitMix64(seed: random.next() &+ UInt64($0)))
    }
    bustle = [random.below(2) + 1, random.below(2)]
    tier = ground.tier
    checksRows = random.once(in: 10)
    self.random = random
    try HostFileSystem().makeDirectory(folder, mode: 0o755)
    twins = try (0..<2).map { try TwinHubs(Paths.join(folder, "twin-\($0)"), as: ground.twin) }
    say("history \(seed): \(dataset.definition)")
    note(ground.markers)
    try look()
    for place in twins.indices {
      twins[place].hold(at: step * 10_000 + 5_000, chance: 0)
      for table in dataset.tables where table.isNamed && place == 1 {
        try twins[place].write(
          "UPDATE \(table.name) SET fid = -fid; UPDATE \(table.name) SET fid = 1000 + fid", at: nil)
      }
      for _ in 0..<hidden[place].random.below(4) * 4 { try writeHidden(at: nil, place) }
    }
  }

  private func say(_ event: @autoclosure () -> String) { trace?(event()) }

  /// Does the same at both hubs, at the same time and with the same random numbers.
  private func both(_ body: (TwinHubs) throws -> Void) throws {
    step += 1
    let seed = random.next()
    for twin in twins {
      twin.hold(at: step * 10_000, chance: seed)
      try body(twin)
    }
  }

  /// Does something on una's device.
  private func onHers(_ body: (TwinHubs) throws -> Void) throws {
    step += 1
    twins[0].hold(at: step * 10_000, chance: random.next())
    try body(twins[0])
  }

  /// Does the same at both hubs. Expects that the results are equal.
  private func both<T: Equatable>(_ what: String, _ body: (TwinHubs) throws -> T) throws -> T {
    var results: [T] = []
    try both { results.append(try body($0)) }
    guard results[0] == results[1] else {
      throw Leak("\(what): \(results[0]) at the one hub, \(results[1]) at the other")
    }
    return results[0]
  }

  // MARK: events

  func play() throws {
    for _ in 0..<Self.length {
      for place in twins.indices { try hiddenEvents(at: place) }
      if leaving.once(in: 5) { try depart() }
      try event()
      try look()
    }
    // At the end una must have the rows that she may see, whatever was lost.
    for _ in 0..<(checksRows ? 3 : 1) {
      try export()
      try carryToHub(isLast: true)
      try emit(full: false)
      if checksRows { try carryToUna(isLast: true) }
    }
    if checksRows { try checkRows() }
  }

  private func event() throws {
    switch random.below(100) {
    // Bundles take much time and rows take little. So several rows are written at a time.
    case 0..<16: for _ in 0...random.below(4) { try write(at: nil, deletes: dataset.tables) }
    case 16..<32: for _ in 0...random.below(4) { try write(at: Self.una, deletes: leaves) }
    case 32..<44: for _ in 0...random.below(4) { try write(at: Self.otto, deletes: leaves) }
    case 44..<54: try export()
    case 54..<64: try carryToHub()
    case 64..<74: try both { try $0.importAtHub($0.export(Self.otto)) }
    case 74..<91:
      try emit(full: random.once(in: 6))
      if random.below(4) > 0 { try carryToUna() }
    case 91..<94:
      try both { twin in if let bundle = try twin.emit(to: Self.otto) { try twin.importBundle(bundle, on: Self.otto) } }
    case 94..<97:
      tier = Int64(random.below(5))
      say("una's tier is \(tier)")
      try both { _ = try $0.hub.setUser("una", attributes: [("tier", String(tier))]) }
    default: try resolve(onDevice: random.once(in: 2))
    }
  }

  /// Tables to which no table refers. A row with hidden children cannot be deleted, and this cannot be kept secret. So
  /// deletes are only in these tables.
  private var leaves: [RandomDataset.Table] { dataset.tables.filter { !dataset.isReferredTo($0) } }

  /// Writes a common row, at the hub or on a device.
  private func write(at name: String?, deletes: [RandomDataset.Table]) throws {
    let table = random.one(of: dataset.tables)
    func keys(_ table: String) throws -> [String] {
      try twins[0].keys(table, at: name).filter { isCommon($0, at: name) }
    }
    let there = try keys(table.name)
    if name != Self.una {
      let others = try twins[1].keys(table.name, at: name).filter { isCommon($0, at: name) }
      guard there == others else {
        throw Leak("\(name ?? "the hub") has \(there) in \(table.name), and its twin \(others)")
      }
    }
    let sql: String
    switch random.below(10) {
    case 0..<3: sql = try common.insert(into: table, keys) ?? "SELECT 1"
    case 3 where !there.isEmpty && deletes.contains { $0.name == table.name }:
      sql = "DELETE FROM \(table.name) WHERE id = \(random.one(of: there))"
    default: sql = there.isEmpty ? "SELECT 1" : try common.update(random.one(of: there), of: table, keys)
    }
    say("\(name ?? "hub"): \(sql)")
    try (name == Self.una ? onHers : both) { try $0.write(sql, at: name) }
    let markers = common.takeMarkers()
    // Una has seen what she wrote herself.
    if name != Self.una { note(markers) }
  }

  /// Whether both hubs have the row. For una's device, rows that left her sight count too.
  private func isCommon(_ key: String, at name: String?) -> Bool {
    !RandomRows.isHidden(key) && (name == Self.una || !departed.contains(key))
  }

  /// A row leaves una's sight: the first hub deletes it, and the second hub hides it from her for ever. She must not be
  /// able to find out which of the two happened.
  private func depart() throws {
    let tables = dataset.tables.filter { $0.rule == .tier || $0.rule == .owner }
    guard !tables.isEmpty else { return }
    let table = leaving.one(of: tables)
    // Otto's changes of the row are imported first. Otherwise a later import of them could bring the row back into
    // una's sight.
    try both { try $0.importAtHub($0.export(Self.otto)) }
    let keys = try twins[0].keys(table.name, at: nil).filter { key in
      try isCommon(key, at: nil)
        && twins.allSatisfy { try !dataset.refers(to: key, of: table, in: $0.app(nil).database) }
    }
    guard !keys.isEmpty else { return }
    let key = leaving.one(of: keys)
    departed.insert(key)
    if try twins[0].keys(table.name, at: Self.una).contains(key) { departures += 1 }
    say("\(table.name) \(key) goes from una")
    step += 1
    let seed = leaving.next()
    let acts = ["DELETE FROM \(table.name)", "UPDATE \(table.name) SET tier = 9, owner = 'otto'"]
    for (twin, act) in zip(twins, acts) {
      twin.hold(at: step * 10_000, chance: seed)
      try twin.write("\(act) WHERE id = \(key)", at: nil)
    }
  }

  private func export() throws {
    say("una exports")
    try onHers { outgoing.append(try $0.export(Self.una)) }
  }

  /// Delivers one export of una's device. It may be late, be delivered twice, or not at all.
  private func carryToHub(isLast: Bool = false) throws {
    guard !outgoing.isEmpty else { return }
    let bundle = isLast || random.below(3) > 0 ? outgoing[outgoing.count - 1] : random.one(of: outgoing)
    say("the hub imports what una's device says")
    try both { try $0.importAtHub(bundle) }
  }

  private func carryToUna(isLast: Bool = false) throws {
    guard !incoming.isEmpty else { return }
    let bundle = isLast || random.below(4) > 0 ? incoming[incoming.count - 1] : random.one(of: incoming)
    say("una's device imports")
    try onHers { try $0.importBundle(bundle, on: Self.una) }
  }

  private func resolve(onDevice: Bool) throws {
    let unas = twins[0].device(Self.una)
    if onDevice {
      guard let found = try unas.conflicts([.open]).first else { return }
      say("una decides \(found.record.id)")
      return try onHers { twin in
        do { try twin.resolve(found.record.id, .device, on: Self.una) } catch is WorkspaceError {}
      }
    }
    // A conflict about a departed row may wait at one hub and be open at the other. So it is not decided.
    let open = try twins.map { twin in
      Set(
        try twin.hub.conflicts([.open]).map(\.record).filter {
          $0.device == unas.configuration.id && !departed.contains($0.key.sql)
        }.map(\.id))
    }
    let shared = open[0].intersection(open[1])
    let words = try both("a decision about una's change") { twin -> String in
      guard let found = try twin.hub.conflicts([.open]).first(where: { shared.contains($0.record.id) }) else {
        return "none"
      }
      do { return try twin.hub.resolve(found.record.id.text, .hub, note: nil).record.id.text } catch let error
        as WorkspaceError
      {
        return error.reason
      }
    }
    say("decided at the hub: \(words)")
  }

  // MARK: hidden events

  private func hiddenEvents(at place: Int) throws {
    let twin = twins[place]
    var times = (0..<hidden[place].random.below(bustle[place] * 2 + 1)).map { _ in
      Int64(hidden[place].random.below(9_000))
    }
    times.sort()
    for time in times {
      twin.hold(at: step * 10_000 + 1 + time, chance: hidden[place].random.next())
      try hiddenEvent(at: place)
    }
  }

  private func hiddenEvent(at place: Int) throws {
    let twin = twins[place]
    switch hidden[place].random.below(twin.has(Self.ivy) ? 20 : 11) {
    case 0..<8: try writeHidden(at: nil, place)
    case 8..<11: try writeHidden(at: Self.otto, place)
    case 11..<14: try writeHidden(at: Self.ivy, place)
    case 14..<16: try twin.importAtHub(twin.export(Self.ivy))
    case 16..<18:
      if let bundle = try twin.emit(to: Self.ivy) { try twin.importBundle(bundle, on: Self.ivy) }
    default:
      let open = try twin.hub.conflicts([.open]).first {
        $0.record.device != twin.device(Self.una).configuration.id && RandomRows.isHidden($0.record.key.sql)
      }
      guard let open else { return }
      do { _ = try twin.hub.resolve(open.record.id.text, .device, note: nil) } catch is WorkspaceError {}
    }
    _ = hidden[place].takeMarkers()
  }

  private func writeHidden(at name: String?, _ place: Int) throws {
    let twin = twins[place]
    let table = hidden[place].random.one(of: dataset.tables)
    func keys(_ table: String) throws -> [String] { try twin.keys(table, at: name) }
    let there = try keys(table.name).filter { RandomRows.isHidden($0) || name == nil && departed.contains($0) }
    let sql: String?
    switch hidden[place].random.below(10) {
    case 0..<4: sql = try hidden[place].insert(into: table, keys)
    case 4 where !there.isEmpty: sql = "DELETE FROM \(table.name) WHERE id = \(hidden[place].random.one(of: there))"
    default: sql = there.isEmpty ? nil : try hidden[place].update(hidden[place].random.one(of: there), of: table, keys)
    }
    guard let sql else { return }
    say("  hidden, hub \(place), \(name ?? "hub"): \(sql)")
    try twin.write(sql, at: name)
  }

  // MARK: checks

  private func emit(full: Bool) throws {
    var files: [[UInt8]?] = []
    try both { files.append(try $0.emit(to: Self.una, full: full)) }
    // Rows that waited may have been accepted by now, and una may see them.
    let seen = try look()
    say("emitted to una: \(files.map { $0?.count ?? 0 })")
    guard let first = files[0], let second = files[1] else {
      guard files[0] == nil, files[1] == nil else { throw Leak("there was something new for una at one hub alone") }
      return
    }
    emissions += 1
    if first != second { throw Leak("una's bundles differ:\n\(try difference(first, second))") }
    incoming.append(first)
    let tar = try tarBytes(of: first)
    // A full bundle must contain visible markers. This shows that the search for hidden markers works.
    for marker in full ? seen : [] where !Marker(marker).isIn(tar) {
      throw Leak("una's full bundle has no \(marker), which she may see")
    }
    if Marker(Self.hiddenMark).isIn(tar) { throw Leak("a hidden row is in una's bundle") }
    for marker in unseen.values where marker.isIn(tar) {
      throw Leak(
        "una's bundle has \(marker.text), which she may not see:\n\(try twins[0].text(of: first, for: Self.una))")
    }
  }

  private func difference(_ first: [UInt8], _ second: [UInt8]) throws -> String {
    let texts = try zip(twins, [first, second]).map { twin, bundle in
      try twin.text(of: bundle, for: Self.una).split(separator: "\n").map(String.init)
    }
    let lines = zip(["-", "+"], [(texts[0], texts[1]), (texts[1], texts[0])]).flatMap { sign, pair in
      pair.0.filter { !pair.1.contains($0) }.map { "\(sign) \($0)" }
    }
    return lines.isEmpty ? "in nothing that they say: in their form alone" : lines.joined(separator: "\n")
  }

  private func note(_ markers: [String]) {
    for marker in markers { unseen[marker] = Marker(marker) }
  }

  /// Records that the rows that una may see now are no longer secret. Returns their markers.
  @discardableResult private func look() throws -> [String] {
    let rows = try Sight(dataset, of: "una", tier: tier, in: twins[0].app(nil).database).seen
    let markers = rows.flatMap(\.values.values).compactMap { RandomRows.marker(in: $0) }.filter {
      $0.hasPrefix("Common")
    }
    for marker in markers { unseen[marker] = nil }
    return markers
  }

  private func checkRows() throws {
    let sight = try Sight(dataset, of: "una", tier: tier, in: twins[0].app(nil).database)
    let hers = try twins[0].app(Self.una)
    for table in dataset.tables {
      let want = Set(sight.seen(in: table.name).map(\.values))
      let have = Set(try Sight.rows(of: table, in: hers.database).map(\.values))
      guard want == have else {
        throw Leak(
          "in \(table.name) una has \(have.subtracting(want)) too much and \(want.subtracting(have)) too little")
      }
    }
  }
}

extension RowKey {
  /// The key as `quote()` writes it. The key must be one number or one text.
  var sql: String {
    switch values.first {
    case .integer(let number): String(number)
    case .text(let bytes): "'\(String(decoding: bytes, as: UTF8.self))'"
    default: ""
    }
  }
}
