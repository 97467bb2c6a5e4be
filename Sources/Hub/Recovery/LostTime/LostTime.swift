/// The state of the time that a hub lost.
public enum LostTime: Sendable {
  /// The hub lost no time, or no row with a counter or a set came back from the lost time.
  case none
  /// Devices deliver their changes again. The hub has not merged the lost time yet.
  case waiting
  /// The hub has merged the lost time. Rows with counters or sets came back as a whole.
  case merged
}

extension HubWorkspace {
  public func lostTime() throws -> LostTime {
    let store = try store()
    if try store.isRecovering() { return .waiting }
    return try store.hasRecoveredRows() ? .merged : .none
  }
}
