import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import SatchelQRCode
import TestSupport
import Testing

/// The commands that show, replace and protect keys, and the loss of keys.
@Suite("Keys")
struct KeyTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  private func fingerprint(_ outcome: CommandLineFixture.Outcome) throws -> String {
    try #require(try outcome.json["fingerprint"]?.stringValue)
  }

  private var hubKey: String { get throws { try fingerprint(camp.hub("keys", "show", "--json")) } }

  private func deviceKey(_ name: String) throws -> String {
    try fingerprint(camp.device(name, "keys", "show", "--json"))
  }

  private func outgoing(_ name: String, _ number: Int) -> String {
    camp.path("\(name)/bundles/outbox/camp-\(name)-hub-\(number).satchel")
  }

  private func incoming(_ name: String, _ number: Int) -> String {
    camp.path("hub/bundles/outbox/camp-hub-\(name)-\(number).satchel")
  }

  // MARK: showing

  @Test("keys show prints the fingerprint that status prints, and no secret")
  func showing() throws {
    let shown = camp.hub("keys", "show")
    #expect(shown.out.contains(try hubKey) && shown.out.contains("age1"))
    #expect(!shown.out.contains("SECRET") && !shown.out.contains("█"))
    let secret = String(decoding: try camp.read("hub/keys/own.identity"), as: UTF8.self)
    #expect(secret.contains("AGE-SECRET-KEY-1"))
    #expect(camp.hub("status").out.contains(try hubKey))
  }

  @Test("a camera reads the fingerprint from the terminal's QR code")
  func camera() throws {
    let shown = camp.hub("keys", "show", "--qr").out
    let picture = shown.split(separator: "\n").filter { $0.contains("█") }
    #expect(picture.count > 10)
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.bitmap(picture.map(String.init)).utf8), to: "code.pbm")
    #expect(try StockTool.zbarimg("-q", "--raw", "code.pbm", in: folder.path).text == hubKey + "\n")
  }

  /// The QR code as a bitmap. Each of its modules is four points wide.
  private static func bitmap(_ lines: [String]) -> String {
    let rows = lines.flatMap { line -> [String] in
      let upper = line.map { $0 == "█" || $0 == "▀" ? "0" : "1" }
      let lower = line.map { $0 == "█" || $0 == "▄" ? "0" : "1" }
      return [upper, lower].map { row in row.flatMap { [String](repeating: $0, count: 4) }.joined(separator: " ") }
    }
    // The lower half of the last terminal line is not a part of the QR code.
    let tall = rows.dropLast().flatMap { [String](repeating: $0, count: 4) }
    return "P1\n\(rows[0].split(separator: " ").count) \(tall.count)\n" + tall.joined(separator: "\n") + "\n"
  }

  // MARK: rotation

  @Test(
    "the old key announces a device's new key, which signs once the hub is known to have it; then the old is invalid"
  )
  func deviceRotation() throws {
    let old = try deviceKey("tablet")
    let made = try fingerprint(camp.device("tablet", "keys", "rotate", "--json"))
    #expect(made != old)
    #expect(try deviceKey("tablet") == old, "until the hub knows")
    #expect(camp.device("tablet", "keys", "rotate").error.contains("not known to know it"))

    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    #expect(try deviceKey("tablet") == made)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'loud' WHERE id = 'r1'")
    camp.device("tablet", "export")
    #expect(try camp.device("tablet", "verify", outgoing("tablet", 2), "--json").json["signer"]?.stringValue == made)
    #expect(camp.hub("import", outgoing("tablet", 2)).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT stars, words FROM reviews WHERE id = 'r1'") == "1|loud")
    // A bundle that the old key signed arrives a second time, and changes nothing.
    let again = camp.hub("import", camp.path("tablet/bundles/sent/camp-tablet-hub-1.satchel"))
    #expect(again.code == 0 && again.out.contains("imported before"))
    #expect(camp.hub("status").code == 0 && camp.hub("doctor").code == 0 && camp.device("tablet", "doctor").code == 0)
  }

  @Test(
    "a device makes another new key where the hub did not take the first, and no word about the first counts for it")
  func deviceRotationAgain() throws {
    let old = try deviceKey("tablet")
    camp.device("tablet", "keys", "rotate")
    camp.deliver("tablet", 1)
    #expect(camp.device("tablet", "keys", "rotate").error.contains("satchel keys rotate --again"))
    #expect(camp.device("tablet", "keys", "rotate", "--again", "--dry-run").code == 0)
    let made = try fingerprint(camp.device("tablet", "keys", "rotate", "--again", "--json"))
    camp.answer("tablet", 2)
    #expect(try deviceKey("tablet") == old, "the hub answers to the first key")
    camp.deliver("tablet", 2)
    camp.answer("tablet", 3)
    #expect(try deviceKey("tablet") == made)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.deliver("tablet", 3)
    #expect(try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "1")
    #expect(camp.hub("doctor").code == 0 && camp.device("tablet", "doctor").code == 0)
  }

  @Test("a bundle that a device's old key signs is refused after the new key is in use")
  func oldDeviceKey() throws {
    // A thief copied the device's folder before the key was replaced.
    try FileManager.default.copyItem(atPath: camp.path("tablet"), toPath: camp.path("copy"))
    camp.device("tablet", "keys", "rotate")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.deliver("tablet", 2)
    for _ in 1...3 {
      try camp.sql("copy/data.sqlite", "UPDATE reviews SET stars = stars + 1 WHERE id = 'r1'")
      camp.device("copy", "export")
    }
    let refused = camp.hub("import", camp.path("copy/bundles/outbox/camp-tablet-hub-3.satchel"))
    #expect(refused.code == 3 && refused.error.contains("has replaced"))
  }

  @Test("the hub's new key is announced with the old key, and each device gets bundles with the key that it knows")
  func hubRotation() throws {
    let old = try hubKey
    let made = try fingerprint(camp.hub("keys", "rotate", "--json"))
    #expect(camp.hub("keys", "show").out.contains("phone, tablet"))
    camp.answer("tablet", 2)
    camp.deliver("tablet", 1)
    #expect(try camp.hub("keys", "show", "--json").json["unaware"]?.arrayValue == ["phone"])
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Sea' WHERE id = 'lake'")
    camp.hub("emit", "--all")
    func signer(_ name: String, _ number: Int) throws -> String? {
      try camp.hub("verify", incoming(name, number), "--json").json["signer"]?.stringValue
    }
    #expect(try signer("tablet", 3) == made)
    #expect(try signer("phone", 2) == old)
    #expect(camp.device("tablet", "import", incoming("tablet", 3)).code == 0)
    #expect(camp.device("phone", "import", incoming("phone", 2)).code == 0)
    camp.deliver("phone", 1)
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Bay' WHERE id = 'lake'")
    camp.hub("emit", "--all")
    #expect(try hubKey == made)
    #expect(try camp.hub("keys", "show", "--json").json["next"] == .null)
    #expect(camp.device("phone", "import", incoming("phone", 3)).code == 0)
    // The hub replaces its key a second time, and the devices follow again.
    camp.hub("keys", "rotate")
    for name in ["tablet", "phone"] {
      camp.hub("emit", "--device", name)
      let file = try #require(
        try FileManager.default.contentsOfDirectory(atPath: camp.path("hub/bundles/outbox")).first {
          $0.contains("-\(name)-")
        })
      #expect(camp.device(name, "import", camp.path("hub/bundles/outbox/\(file)")).code == 0)
    }
  }

  @Test("a device that was away while the hub's key changed learns the key from the full bundle that it needs anyway")
  func awayDuringRotation() throws {
    camp.hub("keys", "rotate")
    camp.hub("emit", "--all")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    // The tablet's first bundle after the rotation is lost. The next bundle announces the new key again, and the old
    // key signs it.
    camp.hub("emit", "--device", "tablet")
    #expect(camp.device("tablet", "import", incoming("tablet", 3)).code == 0)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Pond")
  }

  // MARK: losing

  @Test("a hub that lost its key goes on with a new key, after a person at each device has compared it")
  func lostHubKey() throws {
    try FileManager.default.removeItem(atPath: camp.path("hub/keys/own.key"))
    try FileManager.default.removeItem(atPath: camp.path("hub/keys/own.identity"))
    let refused = camp.hub("emit", "--all").error
    #expect(refused.contains("own.key is missing"), "\(refused)")
    #expect(refused.contains("If there is none: satchel-hub keys rotate --lost\n"), "\(refused)")
    let made = try fingerprint(camp.hub("keys", "rotate", "--lost", "--yes", "--json"))
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    #expect(try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "1")
    camp.hub("emit", "--all")
    let file = incoming("tablet", 2)
    let asked = camp.device("tablet", "import", file)
    #expect(asked.code == 3 && asked.error.contains("--fingerprint WORDS"), "\(asked)")
    #expect(!(asked.out + asked.error).contains(made), "it comes from the hub itself")
    #expect(camp.device("tablet", "import", file, "--fingerprint", try deviceKey("tablet")).code == 3)
    #expect(camp.device("tablet", "import", file, "--fingerprint", made.lowercased()).code == 0)
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    camp.hub("emit", "--device", "tablet")
    #expect(camp.device("tablet", "import", incoming("tablet", 3)).code == 0, "from then on as before")
  }

  @Test("a device whose secret key is lost goes on under another name, as the hint says")
  func lostDeviceKey() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try camp.remove("tablet/keys/own.key")
    let way = "If there is none: satchel renew --name NEW --request FILE\n"
    #expect(camp.device("tablet", "export").error.contains(way))
    #expect(camp.device("tablet", "doctor").out.contains(way))
    let request = camp.path("second.request")
    let made = try fingerprint(camp.device("tablet", "renew", "--name", "second", "--request", request, "--json"))
    let enrolled = camp.enrol(request, made, continuing: "tablet")
    #expect(enrolled.code == 0, "\(enrolled.error)")
    let delivered = camp.hub("import", try camp.export("tablet"))
    #expect(delivered.code == 0, "\(delivered.error)")
    #expect(try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "1")
    #expect(camp.hub("emit", "--device", "second").code == 0)
    let answer = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-second-")
    #expect(camp.device("tablet", "import", answer).code == 0)
    #expect(!camp.device("tablet", "doctor").out.contains("is missing"))
  }

  @Test("an identity that is lost is replaced with ordinary new keys, as the hint says", arguments: ["hub", "tablet"])
  func lostIdentity(place: String) throws {
    func run(_ words: String...) -> CommandLineFixture.Outcome {
      let words = ["-C", camp.path(place)] + words
      return place == "hub" ? camp.hubAnywhere(words) : camp.deviceAnywhere(words)
    }
    try camp.remove("\(place)/keys/own.identity")
    let looked = run("doctor")
    let way = "If there is none: \(place == "hub" ? "satchel-hub" : "satchel") keys rotate\n"
    #expect(looked.code == 1 && looked.out.contains(way), "\(looked)")
    #expect(run("keys", "rotate").code == 0)
    #expect(run("doctor").code == 0, "\(run("doctor"))")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "1")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Pond")
  }

  @Test("a key that devices use is replaced if it is lost, also in an epoch that began after an earlier loss")
  func lostTwice() throws {
    func rotate() throws -> String { try fingerprint(camp.hub("keys", "rotate", "--lost", "--yes", "--json")) }
    let first = try rotate()
    #expect(try rotate() == first, "no device uses it yet")
    #expect(camp.device("tablet", "import", try camp.emit("tablet"), "--fingerprint", first).code == 0)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    #expect(camp.hub("restore", "--in-place").code == 0)
    let second = try rotate()
    #expect(second != first)
    #expect(try rotate() == second, "no device uses it yet")
  }

  @Test("devices that only receive may use a new key unseen: it is replaced again, and an ordinary new key is made")
  func lostKeyOfReceivers() throws {
    for name in ["tablet", "phone"] { #expect(camp.hub("device", "revoke", name).code == 0) }
    camp.hub("device", "provision", "kiosk", "--user", "ann", "--no-keys", "--into", camp.path("kiosk"))
    let first = try fingerprint(camp.hub("keys", "rotate", "--lost", "--yes", "--json"))
    let again = camp.hub("keys", "rotate", "--lost")
    #expect(again.code == 1 && again.error.contains("--yes"), "\(again.out)\(again.error)")
    #expect(try fingerprint(camp.hub("keys", "rotate", "--lost", "--yes", "--json")) != first)
    #expect(camp.hub("keys", "rotate").code == 0)
  }

  @Test("a device refuses bundles that a stolen key of the hub signs from the moment it learns of the loss")
  func stolenHubKey() throws {
    try FileManager.default.copyItem(atPath: camp.path("hub"), toPath: camp.path("thief"))
    try FileManager.default.copyItem(atPath: camp.path("office.sqlite"), toPath: camp.path("copy.sqlite"))
    let made = try fingerprint(camp.hub("keys", "rotate", "--lost", "--yes", "--json"))
    camp.hub("emit", "--all")
    #expect(camp.device("tablet", "import", incoming("tablet", 2), "--fingerprint", made).code == 0)
    let settings = String(decoding: try camp.read("thief/satchel.json"), as: UTF8.self)
    try camp.write("thief/satchel.json", settings.replacing("office.sqlite", with: "copy.sqlite"))
    for name in ["a", "b", "c"] {
      try camp.sql("copy.sqlite", "UPDATE sites SET name = '\(name)' WHERE id = 'lake'")
      #expect(camp.hubAnywhere("-C", camp.path("thief"), "emit", "--device", "tablet").code == 0)
    }
    let outcome = camp.device("tablet", "import", camp.path("thief/bundles/outbox/camp-hub-tablet-4.satchel"))
    #expect(outcome.code == 3 && outcome.error.contains("revoked"))
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Lake")
  }

  @Test("what a device exported while a thief's copy of the hub led it astray comes in when the device is back")
  func astray() throws {
    try FileManager.default.copyItem(atPath: camp.path("hub"), toPath: camp.path("thief"))
    try FileManager.default.copyItem(atPath: camp.path("office.sqlite"), toPath: camp.path("copy.sqlite"))
    let settings = String(decoding: try camp.read("thief/satchel.json"), as: UTF8.self)
    try camp.write("thief/satchel.json", settings.replacing("office.sqlite", with: "copy.sqlite"))
    func thief(_ words: String...) throws -> CommandLineFixture.Outcome {
      camp.hubAnywhere(["-C", camp.path("thief")] + words)
    }
    func answer(from hub: String, fingerprint: String? = nil) throws {
      let emitted = camp.hubAnywhere("-C", camp.path(hub), "emit", "--device", "tablet", "--json")
      let emission = try #require(try emitted.json["emissions"]?.arrayValue?.first)
      let file = try #require(emission["file"]?.stringValue)
      let outcome =
        fingerprint.map { camp.device("tablet", "import", file, "--fingerprint", $0) }
        ?? camp.device("tablet", "import", file)
      #expect(outcome.code == 0, "\(outcome.error)")
    }
    func export() throws -> String {
      try #require(try camp.device("tablet", "export", "--json").json["file"]?.stringValue)
    }
    #expect(try thief("restore", "--in-place").code == 0)
    try answer(from: "thief")
    var astray: [String] = []
    for stars in [1, 2] {
      try camp.sql(
        "tablet/data.sqlite", "INSERT INTO reviews VALUES ('v\(stars)', 'lake', 'ann', \(stars), 'visit \(stars)')")
      let bundle = try export()
      try FileManager.default.copyItem(atPath: bundle, toPath: camp.path("astray-\(stars)"))
      astray.append(camp.path("astray-\(stars)"))
      #expect(try thief("import", bundle).code == 0)
      try answer(from: "thief")
    }
    let made = try fingerprint(camp.hub("keys", "rotate", "--lost", "--yes", "--json"))
    try answer(from: "hub", fingerprint: made)
    try camp.carry("tablet", rounds: 2)
    let words = "SELECT words FROM reviews WHERE id LIKE 'v%' ORDER BY 1"
    #expect(try camp.rows("office.sqlite", words) == "visit 1\nvisit 2")
    try answer(from: "hub", fingerprint: made)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'v2'")
    try camp.carry("tablet")
    #expect(try camp.rows("office.sqlite", words) == "later\nvisit 1")
    #expect(try camp.rows("tablet/data.sqlite", words) == "later\nvisit 1")
    // The hub knows the lost bundles that are still on a stick. They do not block the device.
    for bundle in astray {
      let late = camp.hub("import", bundle)
      #expect(late.code == 0, "\(late.error)")
    }
    #expect(try camp.rows("office.sqlite", words) == "later\nvisit 1")
  }

  @Test(
    "a lost device: its bundles from before count, later bundles do not, and other devices refuse its key")
  func lostDevice() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.device("tablet", "export")
    let before = camp.path("before.satchel")
    try FileManager.default.copyItem(atPath: outgoing("tablet", 1), toPath: before)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 5, words = 'stolen' WHERE id = 'r1'")
    camp.device("tablet", "export")

    let revoked = camp.hub("keys", "revoke", "tablet", "--from", "2")
    #expect(revoked.code == 0 && revoked.out.contains("refused from 2 on"))
    let refused = camp.hub("import", outgoing("tablet", 2))
    #expect(refused.code == 3 && refused.error.contains("revoked"))
    #expect(camp.hub("import", before).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT stars, words FROM reviews WHERE id = 'r1'") == "1|quiet")
    #expect(camp.hub("emit", "--device", "tablet").code == 1)

    camp.hub("emit", "--all")
    #expect(camp.device("phone", "import", incoming("phone", 2)).code == 0)
    #expect(
      try camp.device("phone", "keys", "show", "--json").json["revoked"]?.arrayValue == [.string(deviceKey("tablet"))])
    // The user continues to work with another device.
    #expect(camp.hub("device", "provision", "tablet-2", "--user", "ann", "--into", camp.path("tablet-2")).code == 0)
    #expect(try camp.rows("tablet-2/data.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "1")
  }

  @Test("a device that was set up again requests to join under another name, and its delivered work is there")
  func reimaged() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    try FileManager.default.removeItem(atPath: camp.path("tablet"))
    let made = camp.deviceAnywhere(
      "init", camp.path("tablet"), "--dataset", "camp", "--name", "tablet", "--request", camp.path("r.satchel"),
      "--json")
    let print = try fingerprint(made)
    let taken = camp.hub("device", "enrol", camp.path("r.satchel"), "--user", "ann", "--fingerprint", print)
    #expect(taken.code == 1 && taken.error.contains("There is a device tablet already"))
    #expect(camp.hub("device", "revoke", "tablet").code == 0)
    let enrolled = camp.hub(
      "device", "enrol", camp.path("r.satchel"), "--user", "ann", "--fingerprint", print, "--name", "tablet-b")
    #expect(enrolled.code == 0)
    let first = camp.device("tablet", "import", incoming("tablet-b", 1), "--fingerprint", try hubKey)
    #expect(first.code == 0)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "1")
  }

  // MARK: passwords

  @Test("keys behind a password sign and open with it alone, from the terminal, a file or a variable")
  func passwords() throws {
    let protecting = camp.device("tablet", typing: ["tent", "tent"], "keys", "protect")
    #expect(protecting.code == 0)
    for name in ["own.key", "own.identity"] {
      let path = camp.path("tablet/keys/\(name)")
      #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }
    #expect(!String(decoding: try camp.read("tablet/keys/own.identity"), as: UTF8.self).contains("AGE-SECRET-KEY"))
    let missing = camp.device("tablet", "export")
    #expect(missing.code == 1 && missing.error.contains("--password-file"))
    #expect(camp.device("tablet", typing: ["house"], "export").error.contains("wrong"))
    #expect(camp.device("tablet", typing: ["tent"], "export").code == 0)

    try camp.write("password", "tent\n")
    let open = camp.device("tablet", "--password-file", camp.path("password"), "export")
    #expect(open.code == 1 && open.error.contains("Other users can read"))
    chmod(camp.path("password"), 0o600)
    #expect(camp.device("tablet", "--password-file", camp.path("password"), "export").code == 0)
    let variable = camp.device(
      "tablet", typing: [], environment: ["SATCHEL_PASSWORD_FILE": camp.path("password")], "export")
    #expect(variable.code == 0)

    #expect(camp.device("tablet", "status").code == 0, "what signs nothing asks for nothing")
    #expect(camp.device("tablet", typing: ["house"], "keys", "unprotect").code == 1)
    #expect(camp.device("tablet", typing: ["tent"], "keys", "unprotect").code == 0)
    #expect(camp.device("tablet", "export").code == 0)
  }

  @Test("a password that was mistyped the second time, or is empty, changes nothing")
  func mistyped() throws {
    let before = try camp.everything()
    for secrets in [["a", "b"], ["", ""], ["a"], []] {
      #expect(camp.device("tablet", typing: secrets, "keys", "protect").code == 1)
    }
    #expect(try camp.everything() == before)
  }

  @Test("a new key of a protected workspace is protected too")
  func protectedRotation() throws {
    try camp.write("password", "tent")
    chmod(camp.path("password"), 0o600)
    let password = ["--password-file", camp.path("password")]
    camp.hub("keys", "protect", "--new-password-file", camp.path("password"))
    #expect(camp.hub("keys", "rotate").code == 1)
    #expect(camp.hub(password[0], password[1], "keys", "rotate").code == 0)
    #expect(camp.hub(password[0], password[1], "emit", "--all").code == 0)
    #expect(try camp.hub("keys", "show", "--json").json["protected"] == true)
  }

  // MARK: encryption

  @Test("an encrypted bundle is read by its receiver and by no other, and age opens it")
  func encryption() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'for your eyes' WHERE id = 'r1'")
    camp.device("tablet", "export", "--encrypt")
    let file = outgoing("tablet", 1)
    #expect(
      String(decoding: try camp.read("tablet/bundles/outbox/camp-tablet-hub-1.satchel").prefix(21), as: UTF8.self)
        == "age-encryption.org/v1")
    let other = camp.device("phone", "verify", file)
    #expect(other.code == 3 && other.error.contains("encrypted"))
    #expect(
      camp.device("tablet", "inspect", file, "--rows").out.contains("for your eyes"), "who made it can read it too")
    let opened = try StockTool.age(
      "-d", "-i", camp.path("hub/keys/own.identity"), "-o", camp.path("plain.satchel"), file, in: camp.root)
    #expect(opened.status == 0)
    #expect(try camp.hub("import", file, "--json").json["bundles"]?.arrayValue?.first?["taken"] == 1)
    #expect(
      camp.hub("import", camp.path("plain.satchel")).out.contains("imported before"),
      "one bundle, with its wrapping and without")

    let answer = camp.hub("emit", "--device", "tablet", "--encrypt")
    #expect(answer.code == 0)
    #expect(camp.device("tablet", "import", incoming("tablet", 2)).code == 0)
  }

  @Test("a bundle that age encrypts for the hub is taken")
  func encryptedByAge() throws {
    camp.device("tablet", "export")
    let recipient = String(decoding: try camp.read("hub/keys/own.recipient"), as: UTF8.self).trimmingCharacters(
      in: .newlines)
    try StockTool.age("-r", recipient, "-o", camp.path("wrapped.satchel"), outgoing("tablet", 1), in: camp.root)
    #expect(camp.hub("import", camp.path("wrapped.satchel")).code == 0)
  }

  @Test("an export that is there already is encrypted on request, and stays encrypted")
  func encryptedLater() throws {
    camp.device("tablet", "export")
    #expect(camp.device("tablet", "export", "--encrypt").code == 0)
    #expect(try camp.read("tablet/bundles/outbox/camp-tablet-hub-1.satchel").starts(with: "age-encryption.org".utf8))
    #expect(camp.hub("import", outgoing("tablet", 1)).code == 0)
  }

  @Test("a dataset can ask for encryption, and name who else can open everything")
  func escrow() throws {
    let camp = try CommandLineFixture()
    try camp.makeOffice()
    let keygen = try StockTool.ageKeygen("-o", camp.path("archivist"), in: camp.root)
    let recipient = try #require(keygen.complaint.split(separator: " ").last).trimmingCharacters(in: .newlines)
    try camp.write(
      "camp.json",
      CommandLineFixture.definition.replacing(
        #""version": 1,"#, with: #""version": 1, "encrypt": "always", "escrow": ["\#(recipient)"],"#))
    #expect(
      camp.hubAnywhere(
        "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite")
      )
      .code == 0)
    camp.hub("user", "add", "ann", "tier=1")
    #expect(camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet")).code == 0)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'for three' WHERE id = 'r1'")
    camp.device("tablet", "export")
    let file = camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    try StockTool.age("-d", "-i", camp.path("archivist"), "-o", camp.path("plain.zst"), file, in: camp.root)
    #expect(try StockTool.zstd("-dc", camp.path("plain.zst"), in: camp.root).text.contains("for three"))
    #expect(camp.hub("import", file).code == 0)
  }
}
