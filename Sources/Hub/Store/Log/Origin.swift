import SatchelValues

/// The author of a change that the hub commits, and the bundle that brought the change.
struct Origin: Sendable {
  private(set) var stamp: Stamp
  /// Whether the device itself must receive its change again, because it may have rebased the change away by now.
  let returnsToAuthor: Bool
  /// Milliseconds since 1970 by the hub's clock.
  let at: Int64
  // The values for the log's columns. They are made once, because they are the same for all changes of a bundle.
  let deviceValue: Value
  let userValue: Value
  let bundleValue: Value

  /// - Parameters:
  ///   - device: the device that made the change. nil for a person or an app at the hub.
  ///   - bundle: the bundle with the change. nil if no bundle brought it.
  init(device: ReplicaID?, user: String, stamp: Stamp, bundle: BundleID?, returnsToAuthor: Bool, at: Int64) {
    self.stamp = stamp
    self.returnsToAuthor = returnsToAuthor
    self.at = at
    deviceValue = device.map { .string($0.text) } ?? .null
    userValue = .string(user)
    bundleValue = bundle.map { .string($0.text) } ?? .null
  }

  /// This origin with another stamp.
  func at(_ stamp: Stamp) -> Origin {
    var origin = self
    origin.stamp = stamp
    return origin
  }
}
