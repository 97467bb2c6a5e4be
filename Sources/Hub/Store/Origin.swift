import SatchelValues

/// Who made a change that the hub commits, and how it came.
struct Origin: Sendable {
  private(set) var stamp: Stamp
  /// Whether the device itself needs its change sent back, because it may have rebased it away meanwhile.
  let echo: Bool
  /// Milliseconds since 1970 by the hub's clock.
  let at: Int64
  // As they stand in the log: they are the same for all the changes of a bundle, and are made once.
  let deviceValue: Value
  let userValue: Value
  let bundleValue: Value

  /// - Parameters:
  ///   - device: nil: somebody at the hub.
  ///   - bundle: in which the change came; nil: in none.
  init(device: ReplicaID?, user: String, stamp: Stamp, bundle: BundleID?, echo: Bool, at: Int64) {
    self.stamp = stamp
    self.echo = echo
    self.at = at
    deviceValue = device.map { .string($0.text) } ?? .null
    userValue = .string(user)
    bundleValue = bundle.map { .string($0.text) } ?? .null
  }

  /// The same at another time by the device's clock.
  func at(_ stamp: Stamp) -> Origin {
    var origin = self
    origin.stamp = stamp
    return origin
  }
}
