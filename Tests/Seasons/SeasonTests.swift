import Foundation
import Simulation
import Synchronization
import TestSupport
import Testing

/// Seasons of field work in a simulated world. docs/TESTING.md describes the simulation and how to replay a season.
@Suite struct SeasonTests {
  /// The number of seasons. SATCHEL_SEASONS sets another number, for CI and for builds in which a season takes long.
  private static let count = ProcessInfo.processInfo.environment["SATCHEL_SEASONS"].flatMap { UInt64($0) } ?? 1000
  /// The number of lanes. There are more lanes than processors, so that all processors have work until the end.
  private static let lanes = UInt64(ProcessInfo.processInfo.activeProcessorCount) * 8

  @Test(
    "whatever happens to disks, sticks, bundles and people in a season, nothing is lost and all replicas agree",
    arguments: 0..<lanes)
  func seasons(lane: UInt64) {
    var seasons: [SeasonEvent.Kind: Int] = [:]
    for seed in stride(from: lane, to: Self.count, by: Int(Self.lanes)) {
      let wrong = Soak.play(seed, effects: { for kind in $0 { seasons[kind, default: 0] += 1 } })
      if wrong != nil { Issue.record("\(Soak.shrink(seed))") }
    }
    let all = Self.played.withLock { played in
      played.lanes += 1
      played.seasons.merge(seasons) { $0 + $1 }
      return played.lanes == Self.lanes ? played.seasons : nil
    }
    // In few seasons, some events may never take effect. So the shares are checked only with many seasons.
    guard let all, Self.count >= 1000 else { return }
    for (kind, share) in Self.shares {
      let found = UInt64(all[kind] ?? 0) * 1000 / Self.count
      #expect(found >= share, "\(kind) took effect in \(found) of 1,000 seasons")
    }
  }

  /// How many lanes have ended, and in how many of their seasons each event took effect.
  private static let played = Mutex<(lanes: UInt64, seasons: [SeasonEvent.Kind: Int])>((0, [:]))

  /// For each event, the least number of 1,000 seasons in which it must take effect. docs/TESTING.md has the numbers.
  private static let shares: [(SeasonEvent.Kind, UInt64)] = [
    (.putBackHub, 40), (.secondHub, 80), (.stolenKey, 40), (.brokenDatabase, 80), (.given, 80), (.unseenWrite, 40),
    (.newHub, 35), (.hubClock, 45), (.restoreHub, 20), (.restoredFolder, 25), (.lateStick, 25),
  ]

  /// Seeds of seasons that once failed, in the order of this list:
  /// - A backup lacked a collected bundle.
  /// - A power cut removed the name of an archived bundle.
  /// - A device was given to another user while a clock was wrong.
  /// - A restored hub lacked an export that its device knew as acknowledged.
  /// - A restored device had a hidden row of the work before its backup.
  /// - A device was restored after a copy of it had been left behind.
  /// - A thief acknowledged a former user's export.
  /// - An update waited, while in another order of the bundles an epoch began.
  /// - A fault stopped the operator while a device was settled that had been put back.
  private static let wrongOnce: [UInt64] = [
    922_752, 924_529, 3984, 5_005_280, 62_001_712, 62_005_456, 981_081, 981_291, 30_111_784,
  ]

  @Test("seasons that once failed, and that no other season here resembles, succeed", arguments: wrongOnce)
  func onceWrong(seed: UInt64) {
    if Soak.play(seed) != nil { Issue.record("\(Soak.shrink(seed))") }
  }

  private struct Mistake: Decodable {
    struct Edit: Decodable { let right: String }
    let name: String
    let what: String
    let file: String
    let edits: [Edit]
    let with: String?
    let tests: String?
    let property: String?
  }

  @Test("each planted mistake has its place in the code")
  func mistakes() throws {
    let all = try JSONDecoder().decode(
      [Mistake].self, from: Data(contentsOf: PackageFolder.file("Tests/Planted/mistakes.json")))
    #expect(all.count >= 30)
    #expect(Set(all.map(\.name)).count == all.count)
    for mistake in all {
      let text = try String(contentsOf: PackageFolder.file(mistake.file), encoding: .utf8)
      #expect(!mistake.edits.isEmpty || all.contains { $0.name == mistake.with })
      for edit in mistake.edits {
        #expect(text.components(separatedBy: edit.right).count == 2, "\(mistake.name): \(edit.right)")
      }
    }
  }

  @Test("the tests that look for planted mistakes exist")
  func testsOfMistakes() throws {
    let all = try JSONDecoder().decode(
      [Mistake].self, from: Data(contentsOf: PackageFolder.file("Tests/Planted/mistakes.json")))
    let files = FileManager.default.enumerator(at: PackageFolder.file("Tests"), includingPropertiesForKeys: nil)
    var names: Set<String> = []
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      let code = try String(contentsOf: file, encoding: .utf8)
      names.formUnion(code.matches(of: /(?:func|struct|class) ([A-Za-z]+)/).map { String($0.1) })
    }
    for test in (all.compactMap(\.tests) + all.compactMap(\.property)).flatMap({ $0.split(separator: "|") }) {
      let name = test.split(separator: ".").last.map { String($0) } ?? ""
      #expect(names.contains(name), "\(test)")
    }
  }
}
