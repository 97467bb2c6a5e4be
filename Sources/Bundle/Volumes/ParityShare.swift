/// How many parity volumes are made in addition to the volumes of a bundle. Each can replace any missing volume.
public enum ParityShare: Hashable, Sendable {
  case none
  /// A share of the number of volumes in percent, rounded up.
  case percent(Int64)
  case volumes(Int64)

  /// The number of parity volumes for `parts` other volumes.
  public func count(for parts: Int64) -> Int64 {
    switch self {
    case .none: 0
    case .percent(let percent): (parts * percent + 99) / 100
    case .volumes(let count): count
    }
  }

  /// The most volumes that do not exceed the format's limit together with their parity volumes; at least 1.
  var mostParts: Int64 {
    let most = Manifest.Volume.mostWithParity
    return switch self {
    case .none: Manifest.Volume.most
    case .percent(let percent): max(1, most * 100 / (100 + percent))
    case .volumes(let count): max(1, most - count)
    }
  }
}
