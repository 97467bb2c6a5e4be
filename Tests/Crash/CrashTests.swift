import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// One command of the operator's day, with what must have happened before it.
struct CrashCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let tool: String
  let words: [String]
  /// Commands that come first, each a tool and its words.
  var before: [[String]] = []

  static let export = ["satchel", "-C", "tablet", "sync", "STICK"]
  static let merge = ["satchel-hub", "-C", "hub", "sync", "STICK"]
  static let step = ["satchel-hub", "-C", "hub", "dataset", "apply", "../camp-2.json", "--migration", "../camp-2.sql"]
  static let all = [
    CrashCase(testDescription: "export", tool: "satchel", words: ["-C", "tablet", "export"]),
    CrashCase(
      testDescription: "hub import", tool: "satchel-hub",
      words: ["-C", "hub", "import", "STICK/SATCHEL/hub/tablet/camp-tablet-hub-1.satchel"],
      before: [export]),
    CrashCase(testDescription: "emit", tool: "satchel-hub", words: ["-C", "hub", "emit", "--all"]),
    CrashCase(
      testDescription: "device import", tool: "satchel",
      words: ["-C", "tablet", "import", "STICK/SATCHEL/tablet/hub/camp-hub-tablet-2.satchel"],
      before: [export, merge]),
    CrashCase(
      testDescription: "full import", tool: "satchel", words: ["-C", "tablet", "import", "STICK/camp-hub-tablet-2.satchel"],
      before: [["satchel-hub", "-C", "hub", "emit", "--device", "tablet", "--full", "--to", "STICK"]]),
    CrashCase(testDescription: "device sync", tool: "satchel", words: ["-C", "tablet", "sync", "STICK"], before: [merge]),
    CrashCase(testDescription: "hub sync", tool: "satchel-hub", words: ["-C", "hub", "sync", "STICK"], before: [export]),
    CrashCase(
      testDescription: "apply", tool: "satchel", words: ["-C", "tablet", "apply"],
      before: [merge, ["satchel", "-C", "tablet", "import", "--stage", "STICK/SATCHEL/tablet/hub/camp-hub-tablet-2.satchel"]]),
    CrashCase(
      testDescription: "backup", tool: "satchel-hub", words: ["-C", "hub", "backup", "monday.satchel"],
      before: [export, merge]),
    CrashCase(
      testDescription: "compact", tool: "satchel-hub", words: ["-C", "hub", "compact", "--older-than", "1", "--shrink"],
      before: [merge, export, merge]),
    CrashCase(testDescription: "dataset apply", tool: "satchel-hub", words: Array(step.dropFirst())),
    CrashCase(
      testDescription: "import of a new version", tool: "satchel",
      words: ["-C", "tablet", "import", "STICK/SATCHEL/tablet/hub/camp-hub-tablet-2.satchel"], before: [step, export, merge]),
  ]

  func words(in world: CrashWorld, _ words: [String]) -> [String] {
    words.map { $0.replacingOccurrences(of: "STICK", with: world.folder("stick")) }
  }

  /// The world as it is just before the command.
  func world() throws -> CrashWorld {
    let world = try CrashWorld()
    for command in before { try world.run(command[0], words(in: world, Array(command.dropFirst()))) }
    return world
  }

  /// Every call of the command, or as many as `share` says, evenly spread.
  func points(in world: CrashWorld, share: Int) throws -> [(call: String, number: Int)] {
    let copy = try CrashWorld(copyOf: world)
    let counts = try copy.counts(tool, words(in: copy, words))
    let all = CrashWorld.calls.flatMap { call in (0..<(counts[call] ?? 0)).map { (call, $0 + 1) } }
    guard all.count > share else { return all }
    return (0..<share).map { all[$0 * all.count / share] }
  }
}

private let share = Int(ProcessInfo.processInfo.environment["SATCHEL_CRASHES"] ?? "") ?? 12

@Suite("Processes that die, and disks that fill")
struct CrashTests {
  @Test(
    "killed before any call that changes a file, a command leaves nothing that the next ones do not put right",
    arguments: CrashCase.all)
  func killed(at crash: CrashCase) throws {
    let world = try crash.world()
    let points = try crash.points(in: world, share: share)
    #expect(points.count >= min(share, 8))
    for (call, number) in points {
      let copy = try CrashWorld(copyOf: world)
      try copy.kill(crash.tool, crash.words(in: copy, crash.words), at: call, number)
      do { try copy.finish() } catch { Issue.record("\(crash.testDescription) killed at \(call) \(number): \(error)") }
    }
    print("\(crash.testDescription): killed at \(points.count) points")
  }

  @Test("a full or failing disk: exit code 1 and a sentence, and with room again all goes on", arguments: CrashCase.all)
  func full(at crash: CrashCase) throws {
    let world = try crash.world()
    let points = try crash.points(in: world, share: share).filter {
      ["write", "pwrite64", "fsync", "rename", "mkdir"].contains($0.call)
    }
    for (place, (call, number)) in points.enumerated() {
      let copy = try CrashWorld(copyOf: world)
      let error = place.isMultiple(of: 2) ? "ENOSPC" : "EIO"
      let result = try copy.fail(crash.tool, crash.words(in: copy, crash.words), at: call, number, with: error)
      // What fails behind the last thing that matters, or in what is only tidied up, need not be said.
      #expect([0, 1].contains(result.status), "\(call) \(number) \(error): \(result.status) \(result.complaint)")
      if result.status == 1 { #expect(!result.complaint.isEmpty) }
      do { try copy.finish() } catch { Issue.record("\(crash.testDescription) with \(error) at \(call) \(number): \(error)") }
    }
    print("\(crash.testDescription): \(points.count) failures of the disk")
  }
}
