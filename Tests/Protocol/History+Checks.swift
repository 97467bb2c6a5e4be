import SatchelBundle
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport

/// The conditions that must hold at the end of a history.
extension History {
  func check() throws {
    let atHub = try admin.items()
    for device in devices {
      guard let app = try device.app() else { throw Wrong("\(device.name) has no database") }
      // The test computes the expected rows itself, without the tested code.
      let want = atHub.filter { $0.values[2] % versions.modulus != Int64(hidden[device.index]) }
      let have = try app.items()
      if have != want { throw Wrong("\(device.name) diverged: it has \(have), and the hub \(want)") }
      let whole = try app.rows(want.map(\.id))
      if try whole != admin.rows(want.map(\.id)) {
        throw Wrong("\(device.name) diverged in columns of its own: \(whole)")
      }
      let pending = try device.workspace.status().current?.pending ?? []
      if !pending.isEmpty { throw Wrong("\(device.name) still has pending steps: \(pending)") }
    }
    try checkNothingLost(atHub)
    // If a device's writes bypassed capture, the test does not know which values the device had when.
    if fate != .sneaks, let words = try admin.lost(by: overwritten) { throw Wrong(words) }
    if fate != .sneaks { try checkNothingUnseen() }
    try checkIntegrity()
    // This check takes as long as all other work, so only one history in four has it.
    if seed % 4 == 0 { try checkRepetition() }
  }

  /// Expects that no device keeps an unseen change, because capture has recorded every write.
  func checkNothingUnseen() throws {
    for device in devices {
      let found = try device.workspace.conflicts(ConflictState.allCases).first { $0.record.kind == .unseen }
      if let found { throw Wrong("\(device.name) took a change for unseen: \(found.record)") }
    }
  }

  func checkNothingLost(_ atHub: [Item]) throws {
    var kept = Set<Sighting>()
    func see(_ id: String, _ fields: [Field]) {
      for field in fields {
        guard let column = Item.columns.firstIndex(of: field.name.text), case .integer(let value) = field.value else {
          continue
        }
        kept.insert(Sighting(cell: Cell(id, column), value: value))
      }
    }
    for item in atHub { see(item.id, zip(Item.columns, item.values).map { Field(Name($0), .integer($1)) }) }
    for entry in try admin.logged() + remembered { see(entry.id, try FieldsCoding.parse(entry.fields)) }
    let conflicts =
      try hub.conflicts(ConflictState.allCases) + devices.flatMap { try $0.workspace.conflicts(ConflictState.allCases) }
    for conflict in conflicts {
      guard case .text(let id)? = conflict.record.key.values.first else { throw Wrong("a conflict's key is no text") }
      see(String(decoding: id, as: UTF8.self), conflict.record.deviceValues ?? [])
    }
    for device in devices {
      for (cell, value) in device.duty where !kept.contains(Sighting(cell: cell, value: value)) {
        throw Wrong("\(device.name) lost \(cell.id).\(Item.columns[cell.column]) = \(value)")
      }
    }
  }

  func apps() throws -> [App] { try [admin] + devices.compactMap { try $0.app() } }

  func checkIntegrity() throws {
    for app in try apps() {
      let verdict = try app.integrity()
      if verdict != "ok" { throw Wrong("a database is not sound: \(verdict)") }
    }
  }

  /// Imports every bundle of the history again. Expects that this changes nothing.
  func checkRepetition() throws {
    let before = try apps().map { try $0.dump() }
    for parcel in everMade { try deliver(parcel) }
    let after = try apps().map { try $0.dump() }
    for (before, after) in zip(before, after) {
      for table in before.keys.sorted() where before[table] != after[table] {
        let (old, new) = (before[table] ?? [], after[table] ?? [])
        throw Wrong(
          """
          importing again changed \(table): gone is \(old.filter { !new.contains($0) }), new is \
          \(new.filter { !old.contains($0) })
          """
        )
      }
    }
  }
}
