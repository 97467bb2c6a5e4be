/// The number of parity volumes that are made in addition to a bundle's volumes. Each of them can replace any missing
/// volume.
public enum ParityShare: Hashable, Sendable {
  case none
  /// A share of the number of volumes, rounded up.
  case percent(Int64)
  case volumes(Int64)

  /// The number of parity volumes for so many volumes.
  public func count(for parts: Int64) -> Int64 {
    switch self {
    case .none: 0
    case .percent(let percent): (parts * percent + 99) / 100
    case .volumes(let count): count
    }
  }

  /// The largest number of volumes that, together with their parity volumes, is within the format's limit. At least 1.
  var mostParts: Int64 {
    let most = Manifest.Volume.mostWithParity
    return switch self {
    case .none: Manifest.Volume.most
    case .percent(let percent): max(1, most * 100 / (100 + percent))
    case .volumes(let count): max(1, most - count)
    }
  }
}
