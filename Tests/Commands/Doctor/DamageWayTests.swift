import SatchelPlatform
import TestSupport
import Testing

/// Damage, the way out of it that the doctor prints, and the steps of that way.
private struct Way {
  /// `tablet` or `hub`.
  let place: String
  /// A shell command, run in the camp's folder.
  let damage: String
  /// A part of what the doctor prints.
  let hint: String
  let steps: @Sendable (CommandLineFixture) throws -> Void

  init(
    _ place: String, _ damage: String, hint: String, _ steps: @escaping @Sendable (CommandLineFixture) throws -> Void
  ) {
    (self.place, self.damage, self.hint, self.steps) = (place, damage, hint, steps)
  }

  /// A way that a person goes with shell commands.
  init(_ place: String, _ damage: String, hint: String, shell command: String) {
    self.init(place, damage, hint: hint) { camp in _ = try StockTool.bash("-euc", command, in: camp.root) }
  }

  private static func ofKeys(at place: String) -> [Way] {
    let keys = "\(place)/keys"
    let other = place == "hub" ? "tablet" : "hub"
    return [
      Way(place, "chmod 644 \(keys)/own.key", hint: "Run: chmod 600 ", shell: "chmod 600 \(keys)/own.key"),
      Way(place, "chmod 777 \(keys)", hint: "Then run: chmod 700 ", shell: "chmod 700 \(keys)"),
      Way(
        place, "cp \(other)/keys/own.pub \(keys)/own.pub", hint: "Bring the whole folder back from a backup.",
        shell: "rm -r \(keys) && cp -a safe-\(place) \(keys)"),
    ]
  }

  private static let ofTablet = [
    Way(
      "tablet", "rm tablet/keys/hub.pub", hint: "or from another device of this hub.",
      shell: "cp phone/keys/hub.pub tablet/keys/"),
    Way(
      "tablet", "rm tablet/bundles/archive/camp-hub-tablet-1.satchel",
      hint: "from the hub, which has its own in bundles/sent.",
      shell: "cp hub/bundles/sent/camp-hub-tablet-1.satchel tablet/bundles/archive/"),
    Way(
      "tablet", "truncate -s -5 tablet/bundles/archive/camp-hub-tablet-2.satchel",
      hint: "from the hub, which has its own in bundles/sent.",
      shell: "cp hub/bundles/sent/camp-hub-tablet-2.satchel tablet/bundles/archive/"),
    Way(
      "tablet", "sqlite3 tablet/data.sqlite 'DELETE FROM satchel_exports WHERE sequence = 2'",
      hint: "Carry the file to the hub; the hub imports it."
    ) { camp in
      #expect(camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-2.satchel")).code == 0)
      try camp.answer("tablet")
    },
    Way(
      "tablet", "sqlite3 tablet/data.sqlite 'DROP TABLE satchel_exports'",
      hint: "keep this one aside and import a full bundle: satchel-hub emit --device tablet --full."
    ) { camp in
      try camp.loseDatabase(of: "tablet")
      try camp.answer("tablet", full: true)
    },
  ]

  private static let ofHub = ["rm", "truncate -s -5"].map { command in
    Way(
      "hub", "\(command) hub/bundles/archive/camp-tablet-1-*.satchel", hint: "satchel-hub import FILE puts it back."
    ) { camp in
      #expect(camp.hub("import", camp.path("tablet/bundles/sent/camp-tablet-hub-1.satchel")).code == 0)
    }
  }

  static let all = ofKeys(at: "tablet") + ofKeys(at: "hub") + ofTablet + ofHub
}

@Suite("Ways out of damage, as the doctor prints them")
struct DamageWayTests {
  @Test("a person who does what the doctor prints is out of the damage", arguments: ["tablet", "hub"])
  func walked(place: String) throws {
    let camp = try CommandLineFixture.onTheWay()
    try camp.copy("\(place)/keys", to: "safe-\(place)")
    for way in Way.all where way.place == place { try walk(way, in: CommandLineFixture(copyOf: camp)) }
  }

  private func walk(_ way: Way, in camp: CommandLineFixture) throws {
    func doctor() -> CommandLineFixture.Outcome {
      way.place == "hub" ? camp.hub("doctor") : camp.device("tablet", "doctor")
    }
    try StockTool.bash("-euc", way.damage, in: camp.root)
    let found = doctor()
    #expect(found.code == 1 && found.out.contains(way.hint), "\(way.damage): \(found)")
    try way.steps(camp)
    let after = doctor()
    #expect(after.out == "All is well.\n", "\(way.damage): \(after)")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "second", "\(way.damage)")
  }
}
