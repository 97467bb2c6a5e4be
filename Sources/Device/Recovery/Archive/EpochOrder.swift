import SatchelBundle
import SatchelValues

/// The order in which a device got bundles of several epochs.
///
/// Numbers alone do not show the order, because a hub that was set back continues from an earlier number. A device
/// accepts a new epoch only if the epoch's bundles name the device's present epoch as a former epoch. So these names
/// show which of two epochs came first.
struct EpochOrder {
  /// For each epoch: the number of other epochs that come before it.
  private let ranks: [Epoch: Int]

  /// - Parameter scopes: all bundles that are to be ordered.
  init(_ scopes: some Sequence<Manifest.Scope>) {
    var former: [Epoch: Set<Epoch>] = [:]
    for scope in scopes { former[scope.epoch, default: []].formUnion(scope.former ?? []) }
    ranks = former.keys.reduce(into: [:]) { ranks, epoch in
      // A bundle may leave out epochs that its former epochs name as their former epochs.
      var before: Set<Epoch> = []
      var unread = [epoch]
      while let next = unread.popLast() {
        let found = (former[next] ?? []).filter { former[$0] != nil && !before.contains($0) }
        before.formUnion(found)
        unread += found
      }
      ranks[epoch] = before.count
    }
  }

  /// Whether the device got the bundle `first` before the bundle `second`.
  func precedes(_ first: Manifest.Scope, _ second: Manifest.Scope) -> Bool {
    let (a, b) = (ranks[first.epoch] ?? 0, ranks[second.epoch] ?? 0)
    return a == b ? first.number < second.number : a < b
  }
}
