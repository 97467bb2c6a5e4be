import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// Tests promise 5 of docs/DESIGN.md: a user receives exactly the rows that the user may see.
@Suite struct LeakTests {
  private static let seeds = historySeeds(usually: 40)

  private static let lanes = min(2, seeds.count)
  /// So many pairs of hubs begin with the same dataset and rows, because creating a hub takes as long as a history.
  private static let pairsOnAGround: UInt64 = 4

  @Test(
    """
    two hubs that differ only in hidden rows emit the same bytes for a user, and no hidden value is in them
    """,
    arguments: 0..<lanes)
  func twins(lane: Int) throws {
    let folder = try TemporaryFolder()
    let mine = Self.seeds.filter { Int($0 / Self.pairsOnAGround) % Self.lanes == lane || Self.lanes == 1 }
    var (emissions, departures) = (0, 0)
    var ground: (seed: UInt64, made: TwinFixture)?
    let began = Date()
    for seed in mine {
      let place = folder(String(seed))
      defer { try? folder.files.removeTree(place) }
      do {
        let wanted = seed / Self.pairsOnAGround
        if ground?.seed != wanted { ground = (wanted, try TwinFixture(seed: wanted, in: folder("ground-\(wanted)"))) }
        guard let ground else { continue }
        let history = try TwinHistory(
          seed: seed, on: ground.made, in: place, trace: Self.seeds.count == 1 ? { print($0) } : nil)
        try history.play()
        emissions += history.emissions
        departures += history.departures
      } catch {
        Issue.record("pair \(seed): \(error)\nTo see it again: make histories HISTORIES=1 SEED=\(seed)")
      }
    }
    // If there were no emissions, the test would prove nothing.
    #expect(emissions > mine.count)
    #expect(departures > 0 || mine.count < 20)
    let milliseconds = Int(Date().timeIntervalSince(began) * 1000) / max(1, mine.count)
    print("lane \(lane): \(mine.count) pairs, \(emissions) bundles for una, \(milliseconds) ms a pair")
  }

  @Test("a marker is found in every spelling and position, and not if a letter differs")
  func markers() {
    let text = "Common000123Z"
    let marker = Marker(text)
    for before in 0..<7 {
      let bytes = [UInt8](repeating: 0xab, count: before) + Array(text.utf8) + [0xcd, 0xef]
      let hexadecimal = bytes.map { String($0, radix: 16) }.joined()
      let spellings: [[UInt8]] = [
        bytes, Array(Data(bytes).base64EncodedString().utf8), Array(hexadecimal.utf8),
        Array(hexadecimal.uppercased().utf8),
        [UInt8](repeating: 0, count: before) + text.utf8.flatMap { [$0, 0] },
        [UInt8](repeating: 0, count: before) + text.utf8.flatMap { [0, $0] },
      ]
      for spelling in spellings {
        #expect(marker.isIn(spelling))
        #expect(!Marker("Common000124Z").isIn(spelling))
      }
    }
    #expect(!marker.isIn([]) && !marker.isIn(Array(text.utf8.dropLast())))
  }
}
