import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

/// An office with any tables, ann's tablet and ben's phone. All three write rows.
struct TwoDeviceFixture {
  let camp: CommandLineFixture

  /// - Parameter more: further members of the dataset's definition.
  init(
    _ schema: String, _ tables: String, attributes: String = #""tier": "integer""#, more: String = ""
  ) throws {
    let camp = try CommandLineFixture()
    self.camp = camp
    let definition = """
      { "dataset": "camp", "version": 1, \(more.isEmpty ? "" : more + ",")
        "attributes": { \(attributes) }, "tables": { \(tables) } }
      """
    try camp.open(as: ["two devices", schema, definition]) {
      try camp.sql("office.sqlite", schema)
      try camp.write("camp.json", definition)
      camp.makeHub("hub", over: "office.sqlite")
      for (user, device) in [("ann", "tablet"), ("ben", "phone")] {
        camp.hub("user", "add", user, "tier=1")
        camp.provision(device, for: user)
      }
    }
  }

  func sql(_ who: String, _ text: String) throws {
    try camp.sql(who == "office" ? "office.sqlite" : "\(who)/data.sqlite", text)
  }

  func rows(_ who: String, _ text: String) throws -> String {
    try camp.rows(who == "office" ? "office.sqlite" : "\(who)/data.sqlite", text)
  }
  /// Waits until the next write on any side gets a later time.
  func wait() throws {
    camp.awaitLaterTime()
  }

  /// Makes the device export. Returns the path of a copy of the export.
  func export(_ name: String) throws -> String {
    let outcome = camp.device(name, "export", "--json")
    #expect(outcome.code == 0, "\(outcome.error)")
    let file = try #require(try outcome.json["file"]?.stringValue)
    let copy = camp.path("\(UUID().uuidString).satchel")
    try FileManager.default.copyItem(atPath: file, toPath: copy)
    return copy
  }

  func emit(_ name: String, full: Bool = false) throws -> String {
    let outcome =
      full ? camp.hub("emit", "--device", name, "--full", "--json") : camp.hub("emit", "--device", name, "--json")
    #expect(outcome.code == 0, "\(outcome.error)")
    let file = try #require(try outcome.json["emissions"]?.arrayValue?.first?["file"]?.stringValue)
    let copy = camp.path("\(UUID().uuidString).satchel")
    try FileManager.default.copyItem(atPath: file, toPath: copy)
    return copy
  }

  @discardableResult func hear(_ file: String) -> Bool {
    let outcome = camp.hub("import", file)
    #expect(outcome.code == 0, "\(outcome.error)")
    return outcome.code == 0
  }

  @discardableResult func take(_ name: String, _ file: String) -> Bool {
    let outcome = camp.device(name, "import", file)
    #expect(outcome.code == 0, "\(outcome.error)")
    return outcome.code == 0
  }

  func deliver(_ name: String) throws { hear(try export(name)) }

  func answer(_ name: String, full: Bool = false) throws { take(name, try emit(name, full: full)) }

  func cycle(_ name: String) throws {
    try deliver(name)
    try answer(name)
  }

  func conflicts(_ who: String? = nil) throws -> [JSONValue] {
    let outcome =
      who.map { camp.device($0, "conflicts", "--all", "--json") } ?? camp.hub("conflicts", "--all", "--json")
    return try outcome.json["conflicts"]?.arrayValue ?? []
  }

  func kinds(_ who: String? = nil) throws -> [String] {
    try conflicts(who).map {
      """
      \($0["kind"]?.stringValue ?? "") \($0["state"]?.stringValue ?? "") \($0["operation"]?.stringValue ?? "") \
      \($0["key"].map { "\($0)" } ?? "")
      """
    }
  }

  /// Both devices deliver and import until no bundle is new, at most three times. A file is not carried twice.
  private func exchange() throws {
    var carried: Set<Data> = []
    func isNew(_ file: String) throws -> Bool {
      try carried.insert(Data(contentsOf: URL(fileURLWithPath: file))).inserted
    }
    for _ in 1...3 {
      let before = carried.count
      for name in ["tablet", "phone"] {
        let delivered = try export(name)
        if try isNew(delivered) { hear(delivered) }
        let fetched = try emit(name)
        if try isNew(fetched) { take(name, fetched) }
      }
      if carried.count == before { return }
    }
  }

  /// Exchanges bundles. Expects that all replicas then have the same rows, that nothing is pending, and that no doctor
  /// finds a fault.
  func peace(_ queries: [String], location: SourceLocation = #_sourceLocation) throws {
    try exchange()
    for query in queries {
      let office = try rows("office", query)
      for name in ["tablet", "phone"] {
        let there = try rows(name, query)
        #expect(there == office, "\(name) diverges", sourceLocation: location)
      }
    }
    for name in ["tablet", "phone"] {
      let pending = try camp.device(name, "status", "--json").json["pending"]
      #expect(pending == .object([]), "\(name)", sourceLocation: location)
      let doctor = camp.device(name, "doctor")
      #expect(doctor.code == 0, "\(doctor.out) \(doctor.error)", sourceLocation: location)
    }
    let doctor = camp.hub("doctor")
    #expect(doctor.code == 0, "\(doctor.out)\(doctor.error)", sourceLocation: location)
    let audit = camp.hub("audit")
    #expect(audit.code == 0, "\(audit.out)\(audit.error)", sourceLocation: location)
  }
}
