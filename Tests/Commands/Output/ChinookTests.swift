import Foundation
import SatchelJSON
import TestSupport
import Testing

/// Test data is beside the checkout, and never a part of it.
private let chinook = PackageFolder.data("chinook")

private let isThere = FileManager.default.fileExists(atPath: chinook.path)

/// The database of a record shop. It has 11 tables, integer keys, a composite key and foreign keys. Each support agent
/// sees only the agent's own customers.
@Suite("Chinook, a database that others made", .enabled(if: isThere, "shared/data/chinook is not beside the checkout"))
struct ChinookTests {
  private static let definition = """
    { "dataset": "chinook", "version": 1, "attributes": { "employee": "integer" },
      "tables": {
        "Artist": { "write": "none" }, "Album": { "write": "none" }, "Genre": { "write": "none" }, "MediaType": { "write": "none" },
        "Track": { "write": "none" }, "Playlist": {}, "PlaylistTrack": {}, "Employee": { "write": "none" },
        "Customer": { "visible": "SupportRepId = :employee", "conflict": "manual", "columns": { "Phone": "device", "Fax": "hub" } },
        "Invoice": {}, "InvoiceLine": {} } }
    """

  private static let agents = [
    (name: "jane", employee: 3), (name: "margaret", employee: 4), (name: "steve", employee: 5),
  ]

  private func open(_ file: String, definition: String = Self.definition) throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try FileManager.default.copyItem(
      atPath: chinook.appendingPathComponent(file).path, toPath: camp.path("office.sqlite"))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: camp.path("office.sqlite"))
    try camp.write("chinook.json", definition)
    let made = camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("chinook.json"), "--database", camp.path("office.sqlite"))
    #expect(made.code == 0, "\(made.error)")
    for agent in Self.agents {
      camp.hub("user", "add", agent.name, "employee=\(agent.employee)")
      let device = camp.hub("device", "provision", agent.name, "--user", agent.name, "--into", camp.path(agent.name))
      #expect(device.code == 0, "\(device.error)")
    }
    return camp
  }

  /// All devices export, the hub imports and emits, and all devices import.
  private func round(_ camp: CommandLineFixture) throws {
    for agent in Self.agents {
      let file = try camp.device(agent.name, "export", "--json").json["file"]?.stringValue ?? ""
      #expect(camp.hub("import", file).code == 0)
    }
    for emission in try camp.hub("emit", "--all", "--json").json["emissions"]?.arrayValue ?? []
    where emission["new"] == true {
      let outcome = camp.device(emission["device"]?.stringValue ?? "", "import", emission["file"]?.stringValue ?? "")
      #expect(outcome.code == 0, "\(outcome.error)")
    }
  }

  /// SQL for the rows that an agent's database must have, as a query on the office's database.
  private func expected(_ table: String, _ employee: Int) -> String {
    let customers = "SELECT CustomerId FROM Customer WHERE SupportRepId = \(employee)"
    return switch table {
    case "Customer": "CustomerId IN (\(customers))"
    case "Invoice": "CustomerId IN (\(customers))"
    case "InvoiceLine": "InvoiceId IN (SELECT InvoiceId FROM Invoice WHERE CustomerId IN (\(customers)))"
    default: "1"
    }
  }

  private func check(_ camp: CommandLineFixture) throws {
    let tables = try camp.rows(
      "office.sqlite",
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'satchel%' AND name NOT LIKE 'sqlite%'")
    for agent in Self.agents {
      for table in tables.split(separator: "\n").map(String.init) {
        let found = try camp.rows("\(agent.name)/data.sqlite", "SELECT * FROM \(table) ORDER BY 1, 2")
        let wanted = try camp.rows(
          "office.sqlite", "SELECT * FROM \(table) WHERE \(expected(table, agent.employee)) ORDER BY 1, 2")
        #expect(found == wanted, "\(agent.name): \(table)")
      }
      #expect(try camp.rows("\(agent.name)/data.sqlite", "PRAGMA foreign_key_check").isEmpty)
      #expect(try camp.rows("\(agent.name)/data.sqlite", "PRAGMA integrity_check") == "ok")
      #expect(try camp.device(agent.name, "status", "--json").json["pending"] == .object([]))
    }
    #expect(try camp.rows("office.sqlite", "PRAGMA foreign_key_check").isEmpty)
  }

  /// Inserts a customer with an invoice of two lines, and a playlist. Each row gets the next key of this database.
  private func sell(_ camp: CommandLineFixture, _ database: String, _ who: String, _ employee: Int) throws {
    try camp.sql(
      database,
      """
      INSERT INTO Customer (FirstName, LastName, Email, SupportRepId) VALUES ('\(who)', 'New', '\(who)', \(employee));
      INSERT INTO Invoice (CustomerId, InvoiceDate, BillingCity, Total)
        SELECT max(CustomerId), '2026-01-02 00:00:00', '\(who)', 1.98 FROM Customer;
      INSERT INTO InvoiceLine (InvoiceId, TrackId, UnitPrice, Quantity) SELECT max(InvoiceId), 1, 0.99, \(employee) FROM Invoice;
      INSERT INTO InvoiceLine (InvoiceId, TrackId, UnitPrice, Quantity) SELECT max(InvoiceId), 2, 0.99, \(employee) FROM Invoice;
      INSERT INTO Playlist (Name) VALUES ('\(who)');
      INSERT INTO PlaylistTrack SELECT max(PlaylistId), 1 FROM Playlist;
      INSERT INTO PlaylistTrack SELECT max(PlaylistId), 2 FROM Playlist;
      """)
  }

  @Test(
    "agents who sell offline under the same customer, invoice and line numbers keep all that they sold",
    arguments: ["Chinook_Sqlite.sqlite", "Chinook_Sqlite_AutoIncrementPKs.sqlite"])
  func sameNumbers(_ file: String) throws {
    let definition = ["Customer", "Invoice", "InvoiceLine", "Playlist"].reduce(Self.definition) { text, table in
      text.replacingOccurrences(of: "\"\(table)\": {", with: "\"\(table)\": { \"keys\": \"rekey\",")
        .replacingOccurrences(of: ",}", with: "}")
    }
    let camp = try open(file, definition: definition)
    for agent in Self.agents { try sell(camp, "\(agent.name)/data.sqlite", agent.name, agent.employee) }
    try sell(camp, "office.sqlite", "office", 3)
    try round(camp)
    // The devices sell again before they know the new keys of their first rows.
    for agent in Self.agents { try sell(camp, "\(agent.name)/data.sqlite", "\(agent.name) again", agent.employee) }
    for _ in 0..<3 { try round(camp) }
    try check(camp)
    #expect(
      try camp.rows(
        "office.sqlite",
        """
        SELECT FirstName, BillingCity, count(*), min(Quantity), max(Quantity) FROM Customer
        JOIN Invoice USING (CustomerId) JOIN InvoiceLine USING (InvoiceId) WHERE LastName = 'New' GROUP BY CustomerId ORDER BY FirstName
        """) == """
          jane|jane|2|3|3
          jane again|jane again|2|3|3
          margaret|margaret|2|4|4
          margaret again|margaret again|2|4|4
          office|office|2|3|3
          steve|steve|2|5|5
          steve again|steve again|2|5|5
          """)
    #expect(
      try camp.rows(
        "office.sqlite",
        """
        SELECT count(*), count(DISTINCT Name) FROM Playlist JOIN PlaylistTrack USING (PlaylistId) WHERE PlaylistId > \
        18
        """
      )
        == "14|7")
    #expect(try camp.hub("conflicts", "--all", "--json").json["conflicts"] == [])
  }

  @Test(
    """
    three agents work on their own customers, the office moves one of them, and every device ends with exactly its \
    own rows
    """,
    arguments: ["Chinook_Sqlite.sqlite", "Chinook_Sqlite_AutoIncrementPKs.sqlite"])
  func season(_ file: String) throws {
    let camp = try open(file)
    try check(camp)

    // Customer 1 belongs to Jane, customer 4 to Margaret, and customer 2 to Steve.
    try camp.sql(
      "jane/data.sqlite",
      """
      UPDATE Customer SET Email = 'luis@example.org', Phone = '+55 1' WHERE CustomerId = 1;
      INSERT INTO Invoice (InvoiceId, CustomerId, InvoiceDate, Total) VALUES (3001, 1, '2026-01-02 00:00:00', 1.98);
      INSERT INTO InvoiceLine VALUES (30001, 3001, 1, 0.99, 1), (30002, 3001, 2, 0.99, 1);
      INSERT INTO Playlist VALUES (301, 'Jane''s');
      INSERT INTO PlaylistTrack VALUES (301, 1), (301, 2);
      """)
    try camp.sql(
      "margaret/data.sqlite",
      """
      UPDATE Customer SET Email = 'bjorn@example.org' WHERE CustomerId = 4;
      DELETE FROM InvoiceLine WHERE InvoiceId = 2;
      DELETE FROM Invoice WHERE InvoiceId = 2;
      """)
    try camp.sql(
      "steve/data.sqlite",
      """
      UPDATE Customer SET City = 'Ulm', Fax = '1' WHERE CustomerId = 2; DELETE FROM PlaylistTrack WHERE PlaylistId = \
      17
      """
    )
    // Meanwhile the office writes the same email, another phone number and another fax number. It also gives a customer
    // to another agent.
    try camp.sql(
      "office.sqlite",
      """
      UPDATE Customer SET Email = 'l.g@example.org', Phone = '+55 2' WHERE CustomerId = 1;
      UPDATE Customer SET Fax = '2' WHERE CustomerId = 2;
      UPDATE Customer SET SupportRepId = 4 WHERE CustomerId = 3;
      """)
    try round(camp)
    try round(camp)
    try round(camp)
    try check(camp)

    #expect(
      try camp.rows("office.sqlite", "SELECT Email, Phone FROM Customer WHERE CustomerId = 1")
        == "l.g@example.org|+55 1")
    #expect(try camp.rows("office.sqlite", "SELECT City, Fax FROM Customer WHERE CustomerId = 2") == "Ulm|2")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM Invoice WHERE InvoiceId = 2") == "0")
    #expect(try camp.rows("margaret/data.sqlite", "SELECT count(*) FROM Customer WHERE CustomerId = 3") == "1")
    #expect(try camp.rows("jane/data.sqlite", "SELECT count(*) FROM Customer WHERE CustomerId = 3") == "0")
    #expect(try camp.rows("steve/data.sqlite", "SELECT Name FROM Playlist WHERE PlaylistId = 301") == "Jane's")

    let conflicts = try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue ?? []
    #expect(conflicts.compactMap { $0["state"]?.stringValue }.sorted() == ["open", "settled"])
    let open = try #require(conflicts.first { $0["state"] == "open" })
    #expect(open["winners"] == ["Phone": "device", "Email": "hub"])
    #expect(camp.hub("conflicts", "resolve", open["id"]?.stringValue ?? "", "--keep", "device").code == 0)
    try round(camp)
    try check(camp)
    #expect(try camp.rows("jane/data.sqlite", "SELECT Email FROM Customer WHERE CustomerId = 1") == "luis@example.org")
  }
}
