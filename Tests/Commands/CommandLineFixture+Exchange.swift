import SatchelJSON
import Testing

extension CommandLineFixture {
  /// The definition of a dataset named `camp` with these tables. It has no attributes.
  static func definition(_ tables: String) -> String {
    #"{ "dataset": "camp", "version": 1, "tables": \#(tables) }"#
  }

  /// Makes a hub over an office's database, with the user ann and her devices.
  /// - Parameter attributes: the values of ann's attributes, such as `tier=1`.
  func open(_ schema: String, _ definition: String, attributes: String..., devices: [String]) throws {
    let lists = [attributes, devices].map { $0.joined(separator: "\n") }
    try open(as: ["ann's", schema, definition] + lists) {
      try sql("office.sqlite", schema)
      try write("camp.json", definition)
      makeHub("hub", over: "office.sqlite")
      run(hub: "hub", ["user", "add", "ann"] + attributes)
      for name in devices { provision(name) }
    }
  }

  /// Makes a hub in a folder, with the definition in `camp.json`.
  func makeHub(_ folder: String, over database: String) {
    let made = hubAnywhere("init", path(folder), "--dataset", path("camp.json"), "--database", path(database))
    #expect(made.code == 0, "\(made.error)")
  }

  func provision(_ device: String, for user: String = "ann") {
    let made = hub("device", "provision", device, "--user", user, "--into", path(device))
    #expect(made.code == 0, "\(made.error)")
  }

  /// Enrols the device of this request for the user.
  /// - Parameter former: the device that the new device continues; nil: it continues no device.
  func enrol(
    _ request: String, _ fingerprint: String, user: String = "ann", continuing former: String? = nil
  ) -> Outcome {
    let words = ["device", "enrol", request, "--user", user, "--fingerprint", fingerprint]
    return hubAnywhere(["-C", path("hub")] + words + (former.map { ["--continues", $0] } ?? []))
  }

  @discardableResult private func run(hub folder: String, _ words: [String]) -> Outcome {
    let outcome = hubAnywhere(["-C", path(folder)] + words)
    #expect(outcome.code == 0, "\(outcome.error)")
    return outcome
  }

  /// Writes a damaged bundle. The hub refuses it and keeps it in the quarantine, because its first bytes are those of
  /// an encrypted bundle.
  func writeDamagedBundle(_ name: String, _ text: String = "junk") throws {
    try writeExactly(name, "age-encryption.org/v1\n\(text)")
  }

  /// Makes the device export. Returns the path of the bundle.
  func export(_ device: String) throws -> String {
    try #require(try self.device(device, "export", "--json").json["file"]?.stringValue)
  }

  /// Makes the hub emit for a device. Returns the path of the bundle.
  func emit(_ device: String, full: Bool = false, from hub: String = "hub") throws -> String {
    let emitted = run(hub: hub, ["emit", "--device", device, "--json"] + (full ? ["--full"] : []))
    return try #require(try emitted.json["emissions"]?.arrayValue?.first?["file"]?.stringValue)
  }

  /// Makes a hub, its devices and an empty stick. The tablet has a change that the hub does not have.
  func openBesideStick() throws {
    try open()
    try makeFolder("stick")
    try sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
  }

  /// The device exports, and the hub imports the bundle.
  func deliver(_ device: String, to hub: String = "hub") throws {
    run(hub: hub, ["import", try export(device)])
  }

  /// The hub emits for a device, and the device imports the bundle.
  /// - Parameter folder: the device's folder, if it has another name than the device.
  func answer(_ device: String, in folder: String? = nil, full: Bool = false) throws {
    let outcome = self.device(folder ?? device, "import", try emit(device, full: full))
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  /// Each device exchanges bundles with the hub by its own stick.
  func round(_ devices: [String]) throws {
    for name in devices {
      try makeFolder("stick-\(name)")
      let stick = path("stick-\(name)")
      device(name, "sync", stick)
      hub("sync", stick)
      device(name, "sync", stick)
    }
  }
}
