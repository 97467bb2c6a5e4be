import Foundation
import Simulation
import Testing

/// Seasons of field work in a simulated world: docs/TESTING.md says what is simulated, and how to see one again.
@Suite struct SeasonTests {
  private static let count: UInt64 = 1_000
  private static let lanes = UInt64(ProcessInfo.processInfo.activeProcessorCount)

  @Test(
    "whatever befalls disks, sticks, bundles and people in a season, nothing is lost and all agree in the end",
    arguments: 0..<lanes)
  func seasons(lane: UInt64) {
    for seed in stride(from: lane, to: Self.count, by: Int(Self.lanes)) where Soak.play(seed) != nil {
      Issue.record("\(Soak.shrink(seed))")
    }
  }
}
