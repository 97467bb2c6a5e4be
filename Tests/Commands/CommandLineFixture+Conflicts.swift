import SatchelJSON

/// The conflicts that a person can still decide.
extension CommandLineFixture {
  /// The conflicts that `conflicts` lists without `--all`: those that are open or held.
  /// - Parameter device: the device that lists its conflicts; nil: the hub lists them.
  func listedConflicts(of device: String? = nil) throws -> [JSONValue] {
    let list = device.map { self.device($0, "conflicts", "--json") } ?? hub("conflicts", "--json")
    return try list.json["conflicts"]?.arrayValue ?? []
  }

  /// The ids of the conflicts that the hub lists, in the order of the list.
  func conflictIDs() throws -> [String] { try listedConflicts().compactMap { $0["id"]?.stringValue } }
}
