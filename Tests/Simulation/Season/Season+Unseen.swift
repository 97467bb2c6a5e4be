import SatchelWorkspace
import TestSupport

/// Writes that no trigger sees.
extension Season {
  /// A program writes a row while the triggers are switched off. The row has no pending changes. Soon after, the device
  /// may get another version or another user.
  func writeUnseen(on device: FieldDevice, _ random: inout SplitMix64) throws {
    guard let app = try device.app() else { return }
    let captured = try app.captured()
    let sites = try app.sites().filter { !captured.contains(RowName(table: "sites", id: $0.id)) }
    guard let site = sites.randomElement(using: &random) else { return }
    let cell = Cell("sites", site.id, "note")
    let value = newValue()
    say("\(device.name) gets \(cell) = \(value) unseen")
    try app.database.withoutTriggers { try app.set(cell, to: value) }
    device.duty[cell] = value
    unseen.insert(cell.row)
    tookEffect(.unseenWrite)
  }

  /// The doctor compares all rows with the signed bundles, and makes missed changes pending. It cannot join histories
  /// that parted.
  func takeUpUnseenWrites() throws {
    if unseen.isEmpty { return }
    for device in devices where try device.app() != nil {
      let report = try device.workspace.repair()
      if !report.isRepairedExceptPartings {
        throw Wrong("\(device.name) has rows that no trigger saw, and cannot be repaired: \(report)")
      }
    }
  }
}

extension DoctorReport {
  /// Whether nothing is left to do, except for what no repair ends. A device may still refuse the bundles of its hub,
  /// or an import was stopped and must be done again.
  var isRepairedExceptPartings: Bool {
    var report = self
    report.findings.removeAll { [.otherHub, .otherHistory, .notImported].contains($0.code) }
    return report.isWell
  }
}
