import Testing

/// Sets a hub back: its files return to an earlier state, as after the restore of a virtual machine.
extension CommandLineFixture {
  /// Copies the hub's folder and database, so that `putBackHub` can restore them.
  func keepHub() throws {
    try copy("hub", to: "kept")
    try copy("office.sqlite", to: "kept.sqlite")
  }

  /// Replaces the hub's folder and database with the copies that `keepHub` made.
  func putBackHub() throws {
    try remove("hub")
    for suffix in ["", "-wal", "-shm"] { try removeIfThere("office.sqlite\(suffix)") }
    try copy("kept", to: "hub")
    try copy("kept.sqlite", to: "office.sqlite")
  }

  /// Begins a new epoch at a hub that was set back. Then the devices deliver in this order.
  /// - Parameter rounds: how often the whole order is repeated. In each round every device exchanges bundles twice.
  func deliverAgain(_ order: [String], rounds: Int = 2) throws {
    #expect(hub("restore", "--in-place").code == 0)
    for _ in 0..<rounds { for device in order { try carry(device, rounds: 2) } }
  }
}
