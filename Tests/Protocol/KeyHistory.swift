import SatchelBundle
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import TestSupport

/// A random history of replicas whose apps give the same keys to different rows, or make the same trees and nests under
/// different keys.
///
/// Each row has its own name and its parent's name as texts. Keys may change often, and a courier may lose or repeat
/// bundles. At the end, every replica must have each row once, and each row must refer to the row with the recorded
/// parent name.
final class KeyHistory {
  private static let length = 90

  let seed: UInt64
  private var random: SplitMix64
  private let files = HostFileSystem()
  private let folder: String
  private let hub: HubWorkspace
  private let hubApp: KeyApp
  let devices: [DeviceWorkspace]
  private var apps: [Int: KeyApp] = [:]
  private var mail: [(device: Int?, path: String)] = []
  private var made = 0
  /// For each device, the greatest height of trees that its user may see.
  private var heights: [Int]
  /// Whether users get and lose the right to see tall trees. Their writes may then wait at the hub or become conflicts.
  private let rightsChange: Bool
  private let foreignKeys: Bool
  let isFolding: Bool
  private let names: RowNames
  private let trace: ((String) -> Void)?
  /// Whether some writes on devices bypass capture.
  private let hasSneaks: Bool
  /// Random numbers for such writes. They are separate, so histories without such writes stay the same.
  var sneaks: SplitMix64
  /// The texts that devices wrote unseen, and the names of rows that they inserted unseen.
  var sneaked: Set<String> = []
  var sneakedRows: Set<String> = []
  /// All rows that were made and not deleted. If only one writer writes a row, its newest text is included.
  private var alive: Set<String> = []
  private var born = 0

  init(
    seed: UInt64, rule: String, in folder: String, fate: History.Fate = .none, trace: ((String) -> Void)? = nil
  ) throws {
    self.seed = seed
    hasSneaks = fate == .sneaks
    sneaks = SplitMix64(seed: seed &+ 0x736e_6561_6b)
    self.folder = folder
    self.trace = trace
    random = SplitMix64(seed: seed)
    foreignKeys = random.once(in: 2)
    let isFolding = rule.hasPrefix("fold")
    self.isFolding = isFolding
    names = rule == "fold, named" ? .column : .primaryKey
    let seesAll = random.once(in: 2)
    heights = seesAll || isFolding ? [1, 1, 1] : [1, 1, 0]
    let changes = random.once(in: 3)
    rightsChange = changes && !isFolding
    let platform = Platform(files: files, clock: PassingClock(PassingTime()), random: SeededRandom(~seed))
    let root = Paths.join(folder, "hub")
    try files.makeDirectory(root, mode: 0o755)
    try files.makeDirectory(Paths.join(folder, "stick"), mode: 0o755)
    let counting = random.once(in: 2) || rule == "blocks"
    hubApp = try KeyApp(path: Paths.join(root, "rows.sqlite"), mode: .create, foreignKeys: foreignKeys)
    let declaration: KeyApp.Declaration = seed % 2 == 0 ? .schema : .dataset
    try hubApp.makeTables(counting: counting, folding: isFolding, names: names, declaredBy: declaration)
    hub = try HubWorkspace.create(
      root, definition: Array(Self.definition(rule, declaration).utf8), database: Paths.join(root, "rows.sqlite"),
      platform: platform
    )
    var devices: [DeviceWorkspace] = []
    for (index, height) in heights.enumerated() {
      _ = try hub.addUser("user-\(index)", attributes: [("height", String(height))])
      let device = try DeviceWorkspace.create(
        Paths.join(folder, "device-\(index)"), dataset: "rows", name: "device-\(index)", platform: platform)
      try hub.admit(device, user: "user-\(index)")
      devices.append(device)
    }
    self.devices = devices
  }

  private static func definition(_ rule: String, _ declaration: KeyApp.Declaration) -> String {
    let keys =
      switch rule {
      case "blocks": #""keys": "blocks", "block": 10"#
      case "fold": #""unique": "fold""#
      case "fold, named": #""key": ["id"], "unique": "fold""#
      default: #""keys": "rekey""#
      }
    let eggKeys =
      rule == "fold" ? #""keys": "as-is""# : rule == "fold, named" ? #""key": ["id"]"# : keys
    func refers(_ references: String) -> String {
      declaration == .schema ? "" : ", \"references\": { \(references) }"
    }
    return """
      { "dataset": "rows", "version": 1, "prove": "always", "attributes": { "height": "integer" },
        "tables": {
          "trees": { "visible": "height <= :height", "write": "1", "conflict": "newest", \(keys) },
          "nests": { "conflict": "newest", \(keys)\(refers(#""tree": "trees", "near": "nests""#)) },
          "eggs": { "conflict": "newest", \(eggKeys)\(refers(#""nest": "nests""#)) },
          "paths": { "conflict": "hub"\(refers(#""tree": "trees", "nest": { "table": "nests", "column": "id" }"#)) } } }
      """
  }

  func say(_ words: @autoclosure () -> String) { trace?(words()) }

  // MARK: events

  func play() throws {
    for turn in 0..<Self.length {
      try event()
      if turn % 40 == 39 { try examine() }
    }
    say("-- clean rounds")
    for _ in 0..<4 { try cleanRound() }
    guard hasSneaks else { return }
    // A full bundle for each device overwrites unseen writes.
    for index in devices.indices { try deliver(emit(index, full: true)) }
    for _ in 0..<2 { try cleanRound() }
  }

  private func cleanRound() throws {
    for index in devices.indices {
      if try app(index) == nil { try deliver(emit(index)) }
      try deliver(export(index))
    }
    for index in devices.indices { try deliver(emit(index)) }
  }

  /// Expects that no doctor finds damage, because there is none.
  private func examine() throws {
    if hasSneaks { return }
    for index in devices.indices where try app(index) != nil {
      let report = try devices[index].examine()
      if !report.unseen.isEmpty { throw Wrong("device \(index) is well, and the doctor finds \(report)") }
    }
  }

  private func event() throws {
    let index = random.below(devices.count)
    switch random.below(20) {
    case 0..<9:
      guard let app = try app(index) else { return }
      if names == .column, born % 5 == index { try app.moveLocalKeys() }
      if hasSneaks, sneaks.once(in: 2) { try sneak(in: app, of: index) }
      try write(in: app, as: index, height: heights[index])
    case 9..<12: if try app(index) != nil { mail.append(try export(index)) }
    case 12..<15: mail.append(try emit(index))
    case 15: try write(in: hubApp, as: 9, height: 1)
    case 16 where rightsChange:
      heights[index] = random.below(2)
      say("\(index) sees up to \(heights[index])")
      _ = try hub.setUser("user-\(index)", attributes: [("height", String(heights[index]))])
    default: try carry()
    }
  }

  private func name(_ kind: String, _ writer: Int) -> String {
    born += 1
    return "\(kind)\(born)-\(writer)"
  }

  /// The key that the app gives to a new row; nil: SQLite makes the key.
  private func ownKey(_ writer: Int) -> Value? {
    if !isFolding { return nil }
    born += 1
    return .string("key\(born)-\(writer)")
  }

  private func write(in app: KeyApp, as writer: Int, height: Int) throws {
    switch random.below(12) {
    case 0..<3:
      let name = isFolding ? "tree\(random.below(6))" : name("tree", writer)
      if try app.rows("trees").contains(where: { $0.name == name }) { return }
      let tall = Int64(isFolding ? 0 : random.below(height + 1))
      let key = try app.insert("trees", key: ownKey(writer), "name, height", [.string(name), .integer(tall)])
      say("\(writer) plants \(name) = \(key)")
      alive.insert(name)
    case 3..<6:
      guard let tree = try one(of: "trees", in: app) else { return }
      let name = isFolding ? "\(tree.name)/\(random.below(3))" : name("nest", writer)
      if try app.rows("nests").contains(where: { $0.name == name }) { return }
      let near = random.once(in: 2) ? try one(of: "nests", in: app) : nil
      let key = try app.insert(
        "nests", key: ownKey(writer), "name, tree, tree_name, near, near_name",
        [.string(name), tree.key, .string(tree.name), near?.key ?? .null, near.map { .string($0.name) } ?? .null])
      say("\(writer) builds \(name) = \(key) in \(tree) near \(near.map { "\($0)" } ?? "none")")
      alive.insert(name)
    case 6, 7:
      guard let nest = try one(of: "nests", in: app) else { return }
      let name = name("egg", writer)
      let key = try app.insert(
        "eggs", key: ownKey(writer), "name, nest, nest_name", [.string(name), nest.key, .string(nest.name)])
      say("\(writer) lays \(name) = \(key) in \(nest)")
      alive.insert(name)
    case 8:
      guard let tree = try one(of: "trees", in: app), let nest = try one(of: "nests", in: app) else { return }
      say("\(writer) walks from \(tree) to \(nest)")
      try app.walk(tree, nest)
    case 9:
      let table = random.one(of: ["trees", "nests"])
      guard let row = try one(of: table, in: app) else { return }
      say("\(writer) notes on \(table) \(row)")
      born += 1
      try app.note("note \(born)", on: row, of: table)
    case 10:
      guard let egg = try one(of: "eggs", in: app, madeBy: writer), let nest = try one(of: "nests", in: app) else {
        return
      }
      say("\(writer) carries \(egg) to \(nest)")
      try app.carry(egg, to: nest)
    default:
      guard let egg = try one(of: "eggs", in: app, madeBy: writer) else { return }
      say("\(writer) eats \(egg)")
      try app.eat(egg)
      alive.remove(egg.name)
    }
  }

  private func one(of table: String, in app: KeyApp, madeBy writer: Int? = nil) throws -> KeyApp.NamedRow? {
    let rows = try app.rows(table).filter { row in
      !sneaked.contains(row.name) && writer.map { row.name.hasSuffix("-\($0)") } ?? true
    }
    return rows.isEmpty ? nil : random.one(of: rows)
  }

  // MARK: the courier

  func app(_ index: Int) throws -> KeyApp? {
    if let app = apps[index] { return app }
    if try devices[index].isInitial() { return nil }
    let path = devices[index].configuration.databasePath(devices[index].folder)
    apps[index] = try KeyApp(path: path, mode: .readWrite, foreignKeys: foreignKeys)
    return apps[index]
  }

  private func export(_ index: Int) throws -> (device: Int?, path: String) {
    let report = try devices[index].export()
    say("\(index) exports \(report.sequence)")
    return (nil, try copy(report.file))
  }

  private func emit(_ index: Int, full: Bool = false) throws -> (device: Int?, path: String) {
    // With unseen writes there are more full bundles, because only the archive shows what a full bundle overwrites.
    let isFull = random.once(in: 8) || hasSneaks && sneaks.once(in: 3) || full
    let report = try hub.emit(to: "device-\(index)", full: isFull)
    say("hub emits \(report.number) to \(index), \(report.extent)")
    return (index, try copy(report.file))
  }

  private func copy(_ file: String) throws -> String {
    made += 1
    let path = Paths.join(folder, "stick/\(made)-\(Paths.name(of: file))")
    try files.copy(file, to: path, mode: 0o644)
    return path
  }

  private func carry() throws {
    if mail.isEmpty { return }
    let place = random.below(mail.count)
    let parcel = mail[place]
    if random.below(10) >= 3 { mail.remove(at: place) }
    if random.once(in: 4) { return say("\(Paths.name(of: parcel.path)) is lost") }
    try deliver(parcel)
  }

  private func deliver(_ parcel: (device: Int?, path: String)) throws {
    guard let index = parcel.device else {
      let report = try hub.importBundle(parcel.path)
      if let proof = report.proof {
        say("its rows are \(proof.result): \(proof.words ?? "")")
        if proof.result == .differs, !hasSneaks {
          throw Wrong("\(Paths.name(of: parcel.path)) has other rows than it must have: \(proof)")
        }
      }
      return say(
        """
        hub imports \(Paths.name(of: parcel.path)): \(report.verdict), \(report.conflicts) conflicts, new keys \
        \((report.rekeyed + report.folded).map { "\($0.table) \($0.old)->\($0.new)" })
        """
      )
    }
    let before = try localKeys(index)
    let texts = try hasSneaks ? app(index)?.notes() ?? [] : []
    do {
      let report = try devices[index].importBundle(parcel.path)
      try checkSneaks(on: index, before: texts)
      let after = try localKeys(index)
      if let moved = before.first(where: { after[$0.key] != nil && after[$0.key] != $0.value }) {
        throw Wrong("device \(index) moved \(moved) to \(after[moved.key] ?? 0)")
      }
      say(
        """
        \(index) imports \(Paths.name(of: parcel.path)): \(report.verdict), \(report.conflicts) conflicts, new keys \
        \(report.rekeyed.map { "\($0.table) \($0.old)->\($0.new)" })
        """
      )
    } catch let refusal as Refusal where refusal.reason == "gap" { say("\(index) refuses a gap") }
  }

  private func localKeys(_ index: Int) throws -> [String: Int64] {
    names == .column ? try app(index)?.localKeys() ?? [:] : [:]
  }

  // MARK: checks

  func check() throws {
    try checkUnseen()
    let names = try ["trees", "nests", "eggs"].flatMap { try hubApp.rows($0).map(\.name) }
    if Set(names).count < names.count { throw Wrong("a row is there twice: \(names.sorted())") }
    let conflicts =
      try hub.conflicts(ConflictState.allCases) + devices.flatMap { try $0.conflicts(ConflictState.allCases) }
    var kept: Set<Value> = []
    for record in conflicts.map(\.record) {
      let fields: [Field] = (record.deviceValues ?? []) + (record.baseValues ?? [])
      for field in fields where field.name == "name" { kept.insert(field.value) }
    }
    func isExcused(_ name: String) -> Bool { rightsChange && kept.contains(Value.string(name)) }
    let lost = alive.subtracting(names).filter { !isExcused($0) }
    let back = Set(names).subtracting(alive).subtracting(sneaked).filter { !isExcused($0) }
    if !lost.isEmpty || !back.isEmpty { throw Wrong("lost: \(lost.sorted()), come back: \(back.sorted())") }
    let bad = conflicts.map(\.record).first { record in
      if isOfSneak(record) { return false }
      if record.kind == .insertInsert { return record.table != "paths" && !isFolding }
      return !rightsChange && (record.state == .open || record.state == .held)
    }
    if let bad { throw Wrong("a conflict is left: \(bad.kind) \(bad.table) \(bad.key) \(bad.note ?? "")") }
    try check(hubApp, "the hub")
    for index in devices.indices {
      guard let app = try app(index) else { throw Wrong("device \(index) has no database") }
      try check(app, "device \(index)")
      for table in KeyApp.tables {
        let (have, want) = (try app.all(table), try hubApp.all(table, height: heights[index]))
        if have != want { throw Wrong("device \(index) diverged in \(table): it has \(have), and the hub \(want)") }
      }
      let pending = try devices[index].status().current?.pending ?? []
      if !pending.isEmpty { throw Wrong("device \(index) still has pending steps: \(pending)") }
    }
  }

  private func check(_ app: KeyApp, _ who: String) throws {
    let strays = try app.strays().filter { stray in !sneaked.contains { stray.hasSuffix(" \($0)") } }
    if !strays.isEmpty { throw Wrong("at \(who) rows hang on others than their own: \(strays)") }
  }
}
