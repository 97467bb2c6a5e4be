import SatchelBundle
import SatchelPlatform
import SatchelWorkspace
import TestSupport

/// Databases of devices that are deleted, emptied or created again while exports are on their way.
extension Season {
  /// The damage to a database's file.
  private enum Harm {
    case deleted
    /// The file has no bytes.
    case emptied
    /// The file is a valid SQLite database without any tables.
    case withoutTables
    /// The app created its tables again, and they are empty.
    case madeByApp
    /// The app saved its tables with all rows into a new file, as a person requested. Then the app changed a row there.
    case savedByApp
    /// A page of the file was overwritten.
    case damaged

    /// The kinds of damage from which a season chooses. `rarer` may replace the chosen kind.
    static let usual = [Harm.deleted, .emptied, .withoutTables, .madeByApp]

    /// The kind of damage that may replace this kind.
    var rarer: Harm {
      switch self {
      case .madeByApp: .savedByApp
      case .emptied: .damaged
      default: self
      }
    }

    /// Whether the tools ask a person about a file with this damage.
    var needsPerson: Bool { self == .savedByApp || self == .damaged }
  }

  /// Damages the database of a device. Everything in it is in an export, which is in the outbox and may be on a stick.
  func breakDatabase(of device: FieldDevice, _ random: inout SplitMix64) throws {
    guard let app = try device.app(), let parcel = try export(device) else { return }
    let tables = try app.database.all(
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'satchel%' AND name NOT LIKE 'sqlite%'"
    ) { $0.text(0) }
    if random.once(in: 2) { mail.append(parcel) }
    var harm = random.one(of: Harm.usual)
    var saving = random
    if saving.once(in: 2) { harm = harm.rarer }
    let rows = try harm == .savedByApp ? statements(making: app) : []
    device.closeApp()
    if harm != .damaged { try removeDatabase(of: device) }
    device.copy = nil
    switch harm {
    case .deleted: break
    case .damaged: damagePage(of: device, &saving)
    case .emptied: try files.replace(device.databasePath, mode: 0o644, contents: [])
    case .withoutTables: try make(device.databasePath, ["CREATE TABLE t (a)", "DROP TABLE t"])
    case .madeByApp: try make(device.databasePath, tables)
    case .savedByApp:
      try make(device.databasePath, tables + rows)
      try writeLater(on: device)
    }
    world.settle()
    say("\(device.name)'s database is \(harm)")
    tookEffect(.brokenDatabase)
    if random.once(in: 3) || harm.needsPerson { try repairDatabase(of: device) }
    if random.once(in: 3) {
      for path in try redelivery(of: device) { try deliver(pack(path, from: device.name, to: nil)) }
    }
  }

  private func damagePage(of device: FieldDevice, _ random: inout SplitMix64) {
    world.damage(device.databasePath) { bytes in
      let start = random.below(bytes.count / 4096) * 4096
      for place in start..<start + 4096 { bytes[place] = UInt8(truncatingIfNeeded: place &* 31 &+ 7) }
    }
  }

  /// The statements that make all rows of the app's tables, parents first.
  private func statements(making app: FieldApp) throws -> [String] {
    try ["sites", "visits", "counters"].flatMap { table in
      let columns = try app.database.all(
        "SELECT name FROM pragma_table_info(:table)", ["table": .string(table)]
      ) { $0.text(0) }
      if columns.isEmpty { return [String]() }
      let values = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ', ' || ")
      return try app.database.all("SELECT 'INSERT INTO \(table) VALUES (' || \(values) || ')' FROM \(table)") {
        $0.text(0)
      }
    }
  }

  /// The app writes into its new file. From then on, the device need not keep the former value.
  private func writeLater(on device: FieldDevice) throws {
    let app = try FieldApp(path: device.databasePath, mode: .readWrite)
    let last = try app.database.first("SELECT id FROM visits WHERE a IS NOT NULL ORDER BY rowid DESC LIMIT 1") {
      ExactText($0.text(0))
    }
    guard let last else { return }
    let (cell, value) = (Cell("visits", last, "a"), newValue())
    try app.set(cell, to: value)
    device.duty[cell] = value
  }

  func make(_ path: String, _ statements: [String]) throws {
    let app = try FieldApp(path: path, mode: .create)
    for sql in statements { try app.execute(sql) }
  }

  private func repairDatabase(of device: FieldDevice) throws {
    let report = try device.workspace.repair()
    say("\(device.name) is repaired")
    if !report.isRepairedExceptPartings {
      throw Wrong("\(device.name) without its database cannot be repaired: \(report)")
    }
  }

  /// Rebuilds a lost database at the end of the season. It does not wait for the hub's next bundle.
  func bringBackDatabase(of device: FieldDevice) throws {
    guard try device.app() == nil, try device.workspace.hasHistory else { return }
    try repairDatabase(of: device)
  }
}
