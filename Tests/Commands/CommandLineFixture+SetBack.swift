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
}
