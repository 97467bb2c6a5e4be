import SimulatedWorld
import Testing

@testable import Simulation

/// One import on a device. It fails at each of its steps in turn.
@Suite struct FailedImportTests {
  @Test(
    "whichever write of an import fails, the doctor can still read the hub's rows, and the import can be repeated",
    arguments: [false, true])
  func failsAtEachStep(usesWAL: Bool) throws {
    let season = try Season(seed: 1)
    defer { season.end() }
    let device = FieldDevice(0, season.devices[0].workspace, usesWAL: usesWAL)
    season.devices[0] = device
    try season.deliver(season.emit(to: device))
    let zone = (0..<Int64(season.rules.modulus)).first { $0 != season.hidden[0] } ?? 0
    try season.admin().insert(Site(id: season.newKey(), zone: zone), name: "new", note: nil)
    let bundle = try season.emit(to: device)
    season.closeAll()
    season.world.settle()
    let start = season.world.snapshot()

    var (step, isOver) = (0, false)
    while !isOver {
      season.world.bringBack(start)
      season.world.set(Fault(.ioError, step: step))
      do { try season.deliver(bundle) } catch { guard season.world.hasFailed else { throw error } }
      isOver = !season.world.hasFailed
      season.closeAll()
      season.world.restart()
      // A failed command may leave a temporary file, and a copy of a bundle that the database does not have. Other
      // findings would be faults.
      let lost = try device.workspace.examine().findings.filter { !["leftover", "not-imported"].contains($0.reason) }
      #expect(lost.isEmpty, "after a failure at step \(step), before the import is done again: \(lost)")
      try season.deliver(bundle)
      let report = try device.workspace.examine()
      #expect(report.isWell, "after a failure at step \(step): \(report)")
      season.closeAll()
      step += 1
    }
    #expect(step > 10)
  }
}
