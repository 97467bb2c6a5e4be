import Testing

/// A hub whose files are put back to an earlier state, as a backup program or a virtual machine does.
extension CommandLineFixture {
  /// Copies the hub's folder and its database.
  func keepHub() throws {
    try copy("hub", to: "kept")
    try copy("office.sqlite", to: "kept.sqlite")
  }

  /// Puts back what `keepHub` copied.
  func putBackHub() throws {
    try remove("hub")
    for suffix in ["", "-wal", "-shm"] { try removeIfThere("office.sqlite\(suffix)") }
    try copy("kept", to: "hub")
    try copy("kept.sqlite", to: "office.sqlite")
  }

  /// Begins a new epoch at a hub that was put back, and lets the devices deliver in this order.
  /// - Parameter rounds: how often all of them deliver and fetch twice.
  func deliverAgain(_ order: [String], rounds: Int = 2) throws {
    #expect(hub("restore", "--in-place").code == 0)
    for _ in 0..<rounds { for device in order { try carry(device, rounds: 2) } }
  }
}
