import SatchelJSON
import SatchelValues
import Testing

/// A device delivers its work of the lost time after the hub has merged the lost time. The merged rows may already
/// contain this work.
@Suite("A device that delivers after the lost time was merged")
struct LateDeviceTests {
  private let camp: CommandLineFixture
  private let office = "office.sqlite"
  private let phone = "phone/data.sqlite"
  private let open = "SELECT count(*) FROM satchel_conflicts WHERE state = 'open'"

  init() throws { camp = try CommandLineFixture() }

  private func begin(_ devices: [String]) throws {
    try camp.open(
      """
      CREATE TABLE counts (id TEXT PRIMARY KEY, name TEXT, n INTEGER, tags TEXT);
      INSERT INTO counts VALUES ('o', 'office', 0, '[]');
      """, CommandLineFixture.definition(#"{ "counts": { "columns": { "n": "sum", "tags": "union" } } }"#),
      devices: devices)
    for device in devices { try camp.carry(device, rounds: 2) }
    try camp.keepHub()
  }

  private func round(_ devices: [String], times: Int) throws {
    for _ in 0..<times { for device in devices { try camp.carry(device) } }
  }

  /// Sets the hub back, and begins a new epoch after the tablet has shown the hub that it was set back.
  private func setBack() throws {
    try camp.putBackHub()
    try replaceStick()
    camp.device("tablet", "sync", camp.path("stick"))
    #expect(camp.hub("sync", camp.path("stick")).error.contains("set back"))
    let begun = camp.hub("restore", "--in-place", "--yes")
    #expect(begun.code == 0 && begun.out.contains("Enrol the tablets of that time"), "\(begun.out)\(begun.error)")
    try replaceStick()
  }

  /// Replaces the stick, because files on the old stick would deliver the phone's work.
  private func replaceStick() throws {
    try camp.remove("stick")
    try camp.makeFolder("stick")
  }

  /// Enrols the phone again. Returns the hub's message.
  private func enrolPhone() throws -> String {
    let asked = camp.device("phone", "keys", "request", camp.path("phone.request"), "--json")
    let fingerprint = try #require(try asked.json["fingerprint"]?.stringValue, "\(asked.error)")
    let request = camp.path("phone.request")
    let enrolled = camp.hub("device", "enrol", request, "--user", "ann", "--fingerprint", fingerprint)
    #expect(enrolled.code == 0, "\(enrolled.error)")
    return enrolled.error
  }

  private func row(_ database: String, _ id: String) throws -> String {
    try camp.rows(database, "SELECT n, tags FROM counts WHERE id = '\(id)'")
  }

  @Test("a device of the lost time that is enrolled again counts once, or a person decides", arguments: [true, false])
  func provisionedThen(isEnrolledFirst: Bool) throws {
    try begin(["tablet"])
    camp.provision("phone")
    try camp.sql(phone, #"INSERT INTO counts VALUES ('s1', 'phone', 100, '["x","y"]')"#)
    try round(["phone", "tablet"], times: 2)
    try camp.sql(phone, #"UPDATE counts SET n = n + 5, tags = '["x"]' WHERE id = 's1'"#)
    try round(["phone", "tablet"], times: 2)
    try setBack()
    if isEnrolledFirst {
      #expect(try enrolPhone().contains("let it deliver before the others"))
    } else {
      try round(["tablet"], times: 3)
      #expect(try row(office, "s1") == #"105|["x"]"#)
      #expect(try enrolPhone().contains("becomes open conflicts"))
    }
    try round(["phone", "tablet"], times: 4)
    for database in [office, phone, "tablet/data.sqlite"] { #expect(try row(database, "s1") == #"105|["x"]"#) }
    // The two conflicts are the phone's insert and its addition.
    #expect(try camp.rows(office, self.open) == (isEnrolledFirst ? "0" : "2"))
    #expect(camp.hub("doctor").code == 0)
    if isEnrolledFirst { return }
    let ids = try camp.rows(office, "SELECT id FROM satchel_conflicts WHERE state = 'open' ORDER BY generation")
      .split(separator: "\n").map(String.init)
    try #require(ids.count == 2)
    #expect(camp.hub("conflicts", "resolve", ids[1], "--keep", "hub").code == 0)
    #expect(try row(office, "s1").hasPrefix("105|"))
    // A person may decide that the row does not contain the first amount yet.
    #expect(camp.hub("conflicts", "resolve", ids[0], "--keep", "device").code == 0)
    #expect(try row(office, "s1").hasPrefix("205|"))
  }

  /// - Parameter clockIsAhead: whether the phone's stamps are a day ahead.
  private func provisionPhone(clockIsAhead: Bool) throws {
    camp.provision("phone")
    if !clockIsAhead { return }
    let tomorrow = camp.platform.clock.milliseconds() + 86_400_000
    try camp.sql(phone, "UPDATE satchel_capture SET stamp = \(Stamp(milliseconds: tomorrow).rawValue)")
  }

  /// The phone delivers in the lost time and gets no acknowledgement. After the merge of the lost time, the phone is
  /// enrolled again. It imports before it delivers its work again.
  private func importBeforeDelivery(clockIsAhead: Bool) throws {
    try provisionPhone(clockIsAhead: clockIsAhead)
    try camp.sql(phone, #"INSERT INTO counts VALUES ('s1', 'phone', 100, '["x","y"]')"#)
    try camp.deliver("phone")
    try round(["tablet"], times: 2)
    try camp.sql(phone, #"UPDATE counts SET n = n + 5, tags = '["x"]' WHERE id = 's1'"#)
    try camp.deliver("phone")
    try round(["tablet"], times: 2)
    try setBack()
    try round(["tablet"], times: 3)
    #expect(try row(office, "s1") == #"105|["x"]"#)
    _ = try enrolPhone()
    if clockIsAhead {
      // For the first write of a row, triggers use the computer's clock. So the test adds a day to these times.
      let day = "iif(satchel_first < 0, -1, 1) * \(86_400_000 << 16)"
      try camp.sql(phone, "UPDATE satchel_before_counts SET satchel_first = satchel_first + \(day)")
    }
    try camp.answer("phone")
    try round(["phone", "tablet"], times: 4)
  }

  @Test(
    "a device that imports before it delivers counts nothing twice, also if its clock is ahead",
    arguments: [false, true])
  func importedFirst(clockIsAhead: Bool) throws {
    try begin(["tablet"])
    try importBeforeDelivery(clockIsAhead: clockIsAhead)
    for database in [office, phone, "tablet/data.sqlite"] { #expect(try row(database, "s1") == #"105|["x"]"#) }
    // The two conflicts are the phone's insert and its addition.
    #expect(try camp.rows(office, self.open) == "2")
    // The phone's next change is newer than the bundle that it imported. So the change is added.
    try camp.sql(phone, "UPDATE counts SET n = n + 7 WHERE id = 's1'")
    try round(["phone", "tablet"], times: 2)
    for database in [office, "tablet/data.sqlite"] { #expect(try row(database, "s1").hasPrefix("112|")) }
  }

  @Test(
    "a row that came after another row with its key was deleted is a new row, whatever its device imports first",
    arguments: [false, true])
  func sameKeyByChance(isOfFormerEpoch: Bool) throws {
    try begin(["tablet", "phone"])
    try camp.sql("tablet/data.sqlite", "INSERT INTO counts VALUES ('s1', 'tablet', 1, '[]')")
    if isOfFormerEpoch {
      // The first export with this row is lost. So the hub must assume that a lost hub may have had the row.
      _ = try camp.export("tablet")
      let begun = camp.hub("restore", "--in-place", "--yes")
      #expect(begun.code == 0, "\(begun.error)")
    }
    for sql in [
      "INSERT INTO counts VALUES ('s1', 'office', 2, '[]')", "DELETE FROM counts WHERE id = 's1'",
      "UPDATE counts SET name = 'later' WHERE id = 'o'",
    ] {
      camp.awaitLaterTime()
      try camp.sql(office, sql)
      try camp.carry("phone")
    }
    try camp.answer("tablet")
    try camp.carry("tablet", rounds: 2)
    #expect(try row(office, "s1") == "1|[]")
    #expect(try camp.rows(office, "SELECT count(*) FROM satchel_conflicts") == "0")
  }

  @Test(
    "a row that was deleted meanwhile does not come back without a decision",
    arguments: zip([true, true, false], [false, true, false]))
  func deletedMeanwhile(importsFirst: Bool, clockIsAhead: Bool) throws {
    try begin(["tablet"])
    try provisionPhone(clockIsAhead: clockIsAhead)
    try camp.sql(phone, #"INSERT INTO counts VALUES ('s1', 'phone', 100, '[]')"#)
    try camp.deliver("phone")
    try round(["tablet"], times: 2)
    try setBack()
    try round(["tablet"], times: 3)
    #expect(try row(office, "s1") == "100|[]")
    try camp.sql("tablet/data.sqlite", "DELETE FROM counts WHERE id = 's1'")
    try round(["tablet"], times: 2)
    _ = try enrolPhone()
    if importsFirst { try camp.answer("phone") }
    try round(["phone", "tablet"], times: 4)
    for database in [office, phone, "tablet/data.sqlite"] { #expect(try row(database, "s1").isEmpty) }
    let found = try camp.rows(office, "SELECT kind, key, state FROM satchel_conflicts")
    #expect(found == #"update/delete|["s1"]|"# + (importsFirst ? "open" : "settled"))
    // The phone has imported the delete by now, so its insert is a new row.
    try camp.sql(phone, #"INSERT INTO counts VALUES ('s1', 'again', 1, '[]')"#)
    try round(["phone", "tablet"], times: 2)
    #expect(try row(office, "s1") == "1|[]")
  }

  @Test("after restore --finish, a late device adds only what the rows cannot contain")
  func finished() throws {
    try begin(["tablet", "phone"])
    let both = ["phone", "tablet"]
    try camp.sql(phone, "INSERT INTO counts VALUES ('s1', 'phone', 100, '[]')")
    try round(both, times: 2)
    try camp.sql(
      phone, "UPDATE counts SET n = n + 5 WHERE id = 's1'; UPDATE counts SET n = n + 1 WHERE id = 'o'")
    try round(both, times: 2)
    camp.awaitLaterTime()
    try camp.sql(phone, "UPDATE counts SET n = n + 1000 WHERE id = 's1'")
    try setBack()
    try round(["tablet"], times: 2)
    let status = camp.hub("status").out
    #expect(status.contains("First enrol the tablets"), "\(status)")
    let finished = camp.hub("restore", "--finish")
    #expect(finished.code == 0 && finished.out.contains("becomes an open conflict"), "\(finished.out)")
    #expect(try row(office, "s1").hasPrefix("105|"))
    try round(both, times: 4)
    for database in [office, phone, "tablet/data.sqlite"] {
      #expect(try row(database, "s1").hasPrefix("1105|"))
      // The hub was never without this row, so its counter takes nothing from the lost time.
      #expect(try row(database, "o").hasPrefix("1|"))
    }
    #expect(try camp.rows(office, self.open) == "2")
  }
}
