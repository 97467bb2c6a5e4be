import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// Writes and bundles at times that a test chooses.
extension CommandLineFixture {
  /// From now on, the tools' clock shows this time.
  func setClock(_ time: Int64) {
    platform = Platform(files: HostFileSystem(), clock: SetClock(time), random: SystemRandom())
  }

  /// Writes one row of the table `notes`, as a program would while the clock shows this time.
  func writeNote(_ database: String, _ statement: String, at time: Int64) throws {
    try sql(
      database,
      """
      \(statement);
      UPDATE satchel_writes_notes SET satchel_written = 2440587.5 + \(time) / 86400000.0
      WHERE rowid = (SELECT max(rowid) FROM satchel_writes_notes);
      """)
  }

  /// The device exports, and the hub imports the bundle. Each of them has its own clock.
  func deliver(_ device: String, at time: Int64, hubAt hubTime: Int64) throws {
    setClock(time)
    let exported = self.device(device, "export", "--json")
    let file = try #require(try exported.json["file"]?.stringValue, "\(exported.error)")
    setClock(hubTime)
    let outcome = hub("import", file)
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  /// The hub emits for the device, and the device imports the bundle. Each of them has its own clock.
  func answer(_ device: String, at time: Int64, hubAt hubTime: Int64) throws {
    let file = try emission(for: device, at: hubTime)
    setClock(time)
    let outcome = self.device(device, "import", file)
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  /// The hub emits for the device while the hub's clock shows this time. Returns the path of the bundle.
  func emission(for device: String, at time: Int64) throws -> String {
    setClock(time)
    let emitted = hub("emit", "--device", device, "--json")
    return try #require(
      try emitted.json["emissions"]?.arrayValue?.first?["file"]?.stringValue, "\(emitted.error)\(emitted.out)")
  }
}
