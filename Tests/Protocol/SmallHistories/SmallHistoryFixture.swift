import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import TestSupport

/// A hub and two devices that play a schedule. All rules and all words of writes are played at once: each word has its
/// own row in each rule's table.
///
/// At the end, all three replicas must have the same rows. Each written value must be in a row or in a conflict, or a
/// replica that had it must have overwritten or deleted it.
final class SmallHistoryFixture {
  /// The tables and their rules. The rules are a policy, and the kind of deletion or whether whole rows are merged.
  private static let rules: [(table: String, members: String)] =
    ["newest", "hub", "device", "manual"].flatMap { policy in
      [
        ("cell", ""), ("soft", #", "delete": "soft", "deleted": "gone""#), ("row", #", "merge": "row""#),
      ].map { ("\(policy)_\($0)", #""conflict": "\#(policy)"\#($1)"#) }
    }

  private static let mostClosingRounds = 6
  private let folder: String
  private let files = HostFileSystem()
  private let hub: HubWorkspace
  private let devices: [DeviceWorkspace]
  private let office: Replica
  private var apps: [Replica] = []
  private var exports: [[String]] = [[], []]
  private var emissions: [[String]] = [[], []]
  private var played = 0
  private var copied = 0

  private final class Replica {
    let database: Database
    init(_ path: String, _ mode: Database.Mode) throws { database = try Database(path: path, mode: mode) }
  }

  /// One row, and the words of writes to it.
  private struct Item {
    let table: String
    let id: String
    let words: [[SmallWrite]]
    var next = [0, 0]
    var written: [(column: String, value: String)] = []
    /// Values that a replica had and then overwrote or deleted.
    var ended: Set<String> = []
  }

  private var items: [Item] = []

  init(in folder: String) throws {
    self.folder = folder
    let platform = Platform(files: files, clock: SystemClock(), random: SeededRandom(1))
    let path = Paths.join(folder, "office.sqlite")
    try files.makeDirectory(folder, mode: 0o755)
    try files.makeDirectory(Paths.join(folder, "hub"), mode: 0o755)
    office = try Replica(path, .create)
    for (table, _) in Self.rules {
      try office.database.execute("CREATE TABLE \(table) (id TEXT PRIMARY KEY, a TEXT, b TEXT, gone INTEGER)")
    }
    let tables = Self.rules.map { #""\#($0.table)": { \#($0.members) }"# }.joined(separator: ", ")
    // Each bundle changes a row of every word at once, so the brake must not stop it.
    let brake = #""brake": { "delete": "100%", "change": "100%" }"#
    let definition = #"{ "dataset": "small", "version": 1, "snapshot": "never", \#(brake), "tables": { \#(tables) } }"#
    hub = try HubWorkspace.create(
      Paths.join(folder, "hub"), definition: Array(definition.utf8), database: path, platform: platform)
    _ = try hub.addUser("ann", attributes: [])
    var devices: [DeviceWorkspace] = []
    for name in ["a", "b"] {
      let device = try DeviceWorkspace.create(
        Paths.join(folder, name), dataset: "small", name: name, platform: platform)
      try hub.admit(device, user: "ann")
      devices.append(device)
    }
    self.devices = devices
    for device in 0..<2 { try down(device) }
    apps = try devices.map { try Replica($0.configuration.databasePath($0.folder), .readWrite) }
  }

  /// Plays a schedule with all words. Returns the faults.
  func play(_ schedule: SmallSchedule) throws -> [String] {
    played += 1
    let words = schedule.words(of: 0).flatMap { first in
      schedule.words(of: 1).map { second in
        let name = [first, second].map { $0.map(\.rawValue).joined() }.joined(separator: "-")
        return (id: "\(played) \(name)", words: [first, second])
      }
    }
    items = Self.rules.flatMap { rule in words.map { Item(table: rule.table, id: $0.id, words: $0.words) } }
    try office.database.writeTransaction {
      for item in items {
        try office.database.run("INSERT INTO \(item.table) VALUES (:id, 'a0', 'b0', NULL)", ["id": .string(item.id)])
      }
    }
    for device in 0..<2 { try down(device) }
    (exports, emissions) = ([[], []], [[], []])
    for event in schedule.events { try play(event) }
    try close()
    return try check().map { "\(schedule.testDescription), \($0)" }
  }

  private func play(_ event: SmallEvent) throws {
    switch event {
    case .write(let device), .setBack(let device): try write(on: device)
    case .export(let device):
      exports[device].append(try copy(devices[device].export().file))
    case .deliver(let device, let isOlder):
      let own = exports[device]
      guard let path = isOlder ? own.dropLast().last ?? own.last : own.last else { return }
      _ = try hub.importBundle(path)
    case .emit(let device):
      emissions[device].append(try copy(hub.emit(to: devices[device].configuration.name).file))
    case .answer(let device):
      if let path = emissions[device].last { _ = try devices[device].importBundle(path) }
    }
  }

  private func down(_ device: Int) throws { for event in SmallEvent.down(device) { try play(event) } }

  private func copy(_ file: String) throws -> String {
    copied += 1
    let path = Paths.join(folder, "\(copied)-\(Paths.name(of: file))")
    try files.copy(file, to: path, mode: 0o644)
    return path
  }

  /// Both devices deliver and import until nothing is new.
  private func close() throws {
    for _ in 0..<Self.mostClosingRounds {
      let before = try state()
      for device in 0..<2 { for event in SmallEvent.up(device) { try play(event) } }
      for device in 0..<2 { try down(device) }
      if try state() == before { return }
    }
  }

  private func state() throws -> [[String]] {
    try ([office] + apps).map { try rows(of: $0.database) } + [conflicts().map(\.text)]
  }

  // MARK: writes

  private func write(on device: Int) throws {
    // Waits, so that this write gets a later time than all earlier writes.
    let clock = SystemClock()
    let now = clock.milliseconds()
    while clock.milliseconds() < now + 2 {}
    let app = apps[device]
    try app.database.writeTransaction {
      for place in items.indices where items[place].next[device] < items[place].words[device].count {
        try write(on: device, to: &items[place], app.database)
        items[place].next[device] += 1
      }
    }
  }

  private func write(on device: Int, to item: inout Item, _ app: borrowing Database) throws {
    let number = item.next[device]
    let write = item.words[device][number]
    let value = "\(device == 0 ? "A" : "B")\(number)"
    let id: KeyValuePairs<String, Value> = ["id": .string(item.id)]
    let table = item.table
    let old = try app.first("SELECT a, b FROM \(table) WHERE id = :id", id) { ["a": $0.text(0), "b": $0.text(1)] }
    switch write {
    case .a, .b, .setBack:
      guard let old else { return }
      let column = write == .setBack ? "a" : write.rawValue
      let new = write == .setBack ? "a0" : "\(value)\(column)"
      try app.run(
        "UPDATE \(table) SET \(column) = :value WHERE id = :id", ["value": .string(new), "id": .string(item.id)])
      if write != .setBack { item.written.append((column, new)) }
      item.ended.insert("\(column) \(old[column] ?? "")")
    case .delete:
      try app.run("DELETE FROM \(table) WHERE id = :id", id)
      for (column, value) in old ?? [:] { item.ended.insert("\(column) \(value)") }
    case .make:
      try app.run(
        "INSERT OR REPLACE INTO \(table) VALUES (:id, :a, :b, NULL)",
        ["id": .string(item.id), "a": .string("\(value)a"), "b": .string("\(value)b")])
      for (column, value) in old ?? [:] { item.ended.insert("\(column) \(value)") }
      item.written += ["a", "b"].map { ($0, "\(value)\($0)") }
    }
  }

  // MARK: checks

  /// The final state of one row at the hub.
  struct Outcome: Equatable, CustomStringConvertible {
    let row: String
    /// The kind and state of each conflict, in alphabetical order.
    let conflicts: [String]

    /// Whether the row is only marked as deleted by its column `gone`. Then its other values do not matter.
    var isMarkedDeleted: Bool { row.hasSuffix("| 1") }
    var isOpen: Bool { conflicts.contains { $0.hasSuffix(" open") } }
    var description: String { "\(row) \(conflicts)" }
  }

  /// The outcomes of the last schedule, by table and words.
  func outcomes() throws -> [String: Outcome] {
    func name(_ table: String, _ id: String) -> String { "\(table) \(id.split(separator: " ").last ?? "")" }
    var kinds: [String: [String]] = [:]
    try office.database.each(
      "SELECT table_name, json_extract(key, '$[0]'), kind || ' ' || state FROM satchel_conflicts"
    ) {
      if $0.text(1).hasPrefix("\(played) ") { kinds[name($0.text(0), $0.text(1)), default: []].append($0.text(2)) }
    }
    let rows = try Dictionary(grouping: rows(of: office.database)) { String($0.prefix { $0 != "|" }.dropLast()) }
    return Dictionary(
      uniqueKeysWithValues: items.map { item in
        let row = rows["\(item.table) \(item.id)"]?.first?.drop { $0 != "|" } ?? "nothing"
        let place = name(item.table, item.id)
        return (place, Outcome(row: String(row), conflicts: kinds[place, default: []].sorted()))
      })
  }

  /// The rows of the present schedule, each as "table id | a | b | gone".
  private func rows(of database: borrowing Database) throws -> [String] {
    var found: [String] = []
    for (table, _) in Self.rules {
      found += try database.all(
        """
        SELECT '\(table) ' || id || ' | ' || quote(a) || ' | ' || quote(b) || ' | ' || quote(gone)
        FROM \(table) WHERE id BETWEEN '\(played) ' AND '\(played)!' ORDER BY id
        """
      ) { $0.text(0) }
    }
    return found
  }

  /// The conflicts of the present schedule, each with the name of its item.
  private func conflicts() throws -> [(item: String, text: String)] {
    try office.database.all(
      """
      SELECT table_name || ' ' || json_extract(key, '$[0]'),
        json_array(state, winners, winner, json(base_values), json(hub_values), json(device_values))
      FROM satchel_conflicts WHERE key BETWEEN '["\(played) ' AND '["\(played)!' ORDER BY id
      """
    ) { (item: $0.text(0), text: $0.text(1)) }
  }

  private func check() throws -> [String] {
    let sides = try ([office] + apps).map { replica in
      Dictionary(grouping: try rows(of: replica.database)) { String($0.prefix { $0 != "|" }.dropLast()) }
    }
    let kept = Dictionary(grouping: try conflicts(), by: \.item).mapValues { $0.map(\.text).joined(separator: "\n") }
    return items.compactMap { item in
      let name = "\(item.table) \(item.id)"
      let found = sides.map { $0[name]?.first ?? "nothing" }
      if Set(found).count > 1 { return "\(name): the hub has \(found[0]), A \(found[1]), and B \(found[2])" }
      for write in item.written where !item.ended.contains("\(write.column) \(write.value)") {
        let isThere = found[0].contains("'\(write.value)'")
        if !isThere, kept[name]?.contains("\"\(write.value)\"") != true {
          return
            "\(name): \(write.value) is lost: the hub has \(found[0]), and as conflicts \(kept[name] ?? "none")"
        }
      }
      return nil
    }
  }
}
