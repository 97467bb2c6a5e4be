import SatchelBundle
import SatchelHub
import SatchelWorkspace

/// What the hub's operator does when the tools ask for it.
extension Season {
  /// Does it. If that shows that the hub was set back, the operator begins a new epoch, and it is done again.
  func operating<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let refusal as Refusal where refusal.reason == "set-back" {
      try beginEpoch()
      return try body()
    }
  }

  private func beginEpoch() throws {
    let report = try hub.restoreInPlace()
    if !report.wasKnown { throw Wrong("the hub says that it was set back, and does not know it") }
    presence = .afterRestore
    say("the operator begins epoch \(report.epoch.text.prefix(8))")
    for path in try hub.dueByNow() {
      do { _ = try hub.importBundle(path) } catch let refusal as Refusal {
        say("a bundle that waited is refused: \(refusal.reason)")
      }
    }
  }
}

extension Refusal {
  /// Whether the bundle is of another history than the one that this replica follows.
  var isAboutHistory: Bool { ["other-history", "other-hub"].contains(reason) }
}
