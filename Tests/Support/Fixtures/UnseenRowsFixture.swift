import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform

/// A device whose rows were written while capture was off. Before a full bundle replaces these rows, the device keeps
/// them as conflicts. The other rows have values of many forms, because the export has digests of all rows.
struct UnseenRowsFixture: PairStory {
  static let setting = HubAndDeviceFixture.Setting(
    hub: "harbour", device: "dinghy", user: "ada", dataset: "buoys", table: "buoys",
    schema: #"""
      CREATE TABLE buoys (id INTEGER PRIMARY KEY, name, depth REAL);
      INSERT INTO buoys VALUES
        (1, 'North', 12.5), (2, 'South', 8), (3, 'Bar', NULL), (4, '"Fähre"/\' || char(1, 9, 10, 127), 0.00001),
        (5, x'00ff', 0.0001), (6, 9007199254740992, 9007199254740992.0), (7, -0.0, 9007199254740994.0),
        (8, CAST(x'610062' AS TEXT), 5e-324), (9, 1.5e300, -1e999), (10, 9007199254740991, 123456.789);
      """#)

  let pair: HubAndDeviceFixture

  /// The full bundle, and the export that reports a row with other values and a missing row. Then the hub's decision
  /// about the first row.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let (hub, device) = (pair.hub, pair.device)
    _ = try device.importBundle(pair.emit("first"))
    try writeUnseen("UPDATE buoys SET name = 'Wreck' WHERE id = 1; DELETE FROM buoys WHERE id = 2", in: device.folder)
    try write("UPDATE buoys SET depth = depth + 1 WHERE id < 3", in: hub.folder)
    let full = try pair.emit("whole", full: true)
    _ = try device.importBundle(full)
    let report = try pair.export("report")
    _ = try hub.importBundle(report)
    guard let changed = try hub.conflicts([.open]).first(where: { $0.record.operation == .insert }) else {
      throw ToolFailure("the hub has no report of the changed row")
    }
    tick()
    _ = try hub.resolve(changed.record.id.text, .device, note: "The buoy marks a wreck.")
    let hubKey = try hub.keys.ownKey()
    return [
      ("scope-full-unseen", full, hubKey), ("changes-unseen", report, try device.keys.ownKey()),
      ("scope-delta-unseen-decided", try pair.emit("decision"), hubKey),
    ]
  }
}
