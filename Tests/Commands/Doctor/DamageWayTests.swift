import SatchelPlatform
import TestSupport
import Testing

/// One kind of damage, the hint that the doctor prints, and the steps by which a person follows this hint.
private struct Way {
  /// The damaged workspace: `tablet` or `hub`.
  let place: String
  /// The shell command that makes the damage. It runs in the camp's folder.
  let damage: String
  /// A part of the hint that the doctor prints.
  let hint: String
  let steps: @Sendable (CommandLineFixture) throws -> Void

  init(
    _ place: String, _ damage: String, hint: String, _ steps: @escaping @Sendable (CommandLineFixture) throws -> Void
  ) {
    (self.place, self.damage, self.hint, self.steps) = (place, damage, hint, steps)
  }

  /// A way whose steps are shell commands.
  init(_ place: String, _ damage: String, hint: String, shell command: String) {
    self.init(place, damage, hint: hint) { camp in _ = try StockTool.bash("-euc", command, in: camp.root) }
  }

  /// An index whose entries do not fit its declaration. SQLite can still read all rows of such a file.
  private static func damagedIndex(of file: String) -> String {
    """
    sqlite3 \(file) 'CREATE INDEX i ON reviews (words)'
    sqlite3 \(file) '.dbconfig defensive off' "PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON reviews (stars)' WHERE name = 'i'"
    """
  }

  private static func ofIndex(at place: String) -> Way {
    let file = place == "hub" ? "office.sqlite" : "tablet/data.sqlite"
    return Way(
      place, damagedIndex(of: file), hint: "\(file) REINDEX. It makes damaged indexes again.",
      shell: "sqlite3 \(file) REINDEX")
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
      Way(
        place, "rm \(keys)/own.identity", hint: "If there is none: satchel\(place == "hub" ? "-hub" : "") keys rotate"
      ) { camp in
        let rotated = place == "hub" ? camp.hub("keys", "rotate") : camp.device("tablet", "keys", "rotate")
        #expect(rotated.code == 0, "\(rotated)")
      },
    ] + ofLostKeys(at: place)
  }

  /// Damage to the keys. A person copies the keys back from a backup.
  private static func ofLostKeys(at place: String) -> [Way] {
    let keys = "\(place)/keys"
    return [
      "rm \(keys)/own.key", "rm \(keys)/own.pub", "rm \(keys)/own.recipient", "truncate -s 40 \(keys)/own.key",
      "rm -r \(keys)",
    ].map { damage in
      Way(
        place, damage, hint: "Bring it back from a backup.",
        shell: "mkdir -p \(keys) && chmod 700 \(keys) && cp -a safe-\(place)/. \(keys)/")
    }
  }

  private static let ofTablet = [
    Way(
      "tablet", damagedIndex(of: "tablet/data.sqlite"),
      hint: "Run satchel export, and move the file away. Then satchel doctor --repair builds it again."
    ) { camp in
      #expect(camp.device("tablet", "export").code == 0)
      try camp.loseDatabase(of: "tablet")
      #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    },
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
      "tablet", "sqlite3 tablet/data.sqlite 'DELETE FROM satchel_ledger'",
      hint: "import a full bundle from the hub: satchel-hub emit --device tablet --full"
    ) { camp in try camp.answer("tablet", full: true) },
  ]

  private static let ofLostTables: [Way] = ["exports", "ledger", "conflicts"].map { table in
    Way(
      "tablet", "sqlite3 tablet/data.sqlite 'DROP TABLE satchel_\(table)'",
      hint: "keep this one aside and import a full bundle: satchel-hub emit --device tablet --full."
    ) { camp in
      try camp.loseDatabase(of: "tablet")
      try camp.answer("tablet", full: true)
    }
  }

  private static let ofHub: [Way] = ["rm", "truncate -s -5"].flatMap { command in
    [
      Way(
        "hub", "\(command) hub/bundles/archive/camp-tablet-1-*.satchel", hint: "satchel-hub import FILE puts it back."
      ) { camp in
        #expect(camp.hub("import", camp.path("tablet/bundles/sent/camp-tablet-hub-1.satchel")).code == 0)
      },
      Way(
        "hub", "\(command) hub/bundles/archive/camp-hub-hub-*",
        hint: "move a damaged base to another folder, then run satchel-hub doctor --repair."
      ) { camp in
        let base = "hub/bundles/archive/camp-hub-hub-*"
        _ = try StockTool.bash("-euc", "mkdir aside; if ls \(base); then mv \(base) aside; fi", in: camp.root)
        #expect(camp.hub("doctor", "--repair").code == 0)
      },
    ]
  }

  private static let ofHubLedger = Way(
    "hub", "sqlite3 office.sqlite \"DELETE FROM satchel_ledger WHERE direction = 'in'\"",
    hint: "satchel-hub import FILE records it again"
  ) { camp in
    let file = try camp.newestBundle(in: "hub/bundles/archive", "camp-tablet-1-")
    #expect(camp.hub("import", file).code == 0)
  }

  /// Damage to the hub's database. A person restores the hub from its last backup.
  private static let ofHubDatabase: [Way] = [
    "head -c 4096 /dev/urandom | dd of=office.sqlite bs=4096 seek=3 conv=notrunc status=none",
    "truncate -s 20000 office.sqlite", "sqlite3 office.sqlite 'DELETE FROM satchel_ledger'",
    "sqlite3 office.sqlite 'DROP TABLE satchel_ledger'", "sqlite3 office.sqlite 'DROP TABLE satchel_conflicts'",
    "sqlite3 office.sqlite 'DROP TABLE satchel_log'", "sqlite3 office.sqlite 'DROP TABLE satchel_rows_reviews'",
  ].map { damage in
    Way("hub", damage, hint: "the hub back from its last backup: satchel-hub restore") { camp in try camp.restore() }
  }

  static let all: [Way] =
    ["tablet", "hub"].flatMap { ofKeys(at: $0) + [ofIndex(at: $0)] } + ofTablet + ofLostTables + ofHub + [ofHubLedger]
    + ofHubDatabase
}

@Suite("Ways out of damage, as the doctor prints them")
struct DamageWayTests {
  @Test("a person who does what the doctor prints is out of the damage", arguments: ["tablet", "hub"])
  func walked(place: String) throws {
    let camp = try CommandLineFixture.onTheWay()
    try camp.copy("\(place)/keys", to: "safe-\(place)")
    try camp.backUp()
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
