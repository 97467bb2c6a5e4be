/// A row as it was before its first write in a generation, with the stamp of its last write in that generation.
public struct PreImage: Hashable, Sendable {
  public let generation: Generation
  public let stamp: Stamp
  /// The first write of the row in the generation; nil if it is not known.
  public let first: FirstWrite?
  /// The row before that write; nil if the row did not exist.
  public let row: Row?
  /// Whether the hub's row is already deleted or outside the user's scope. The pre-image is kept, because the
  /// device's own delete must still reach the hub.
  public let isGone: Bool
  /// The unit of the first write; nil if none was recorded.
  public let unit: UnitNumber?

  public init(
    generation: Generation, stamp: Stamp, first: FirstWrite? = nil, row: Row?, isGone: Bool = false,
    unit: UnitNumber? = nil
  ) {
    self.generation = generation
    self.stamp = stamp
    self.first = first
    self.row = row
    self.isGone = isGone
    self.unit = unit
  }

  /// The hub's row as far as this device knows; nil if the hub has no such row.
  public var hubRow: Row? { isGone ? nil : row }

  /// A copy of this pre-image whose row is the result of `body`.
  public func mapRow(_ body: (Row) -> Row) -> PreImage {
    with(row: row.map(body), isGone: isGone)
  }

  /// A copy of this pre-image with another row.
  public func with(row: Row?, isGone: Bool = false) -> PreImage {
    PreImage(generation: generation, stamp: stamp, first: first, row: row, isGone: isGone, unit: unit)
  }
}

/// The changes of a row, computed from its pre-images and the present row, oldest first. Each generation has at most
/// one change.
public func changes(from images: [PreImage], to current: Row?) -> [(image: PreImage, change: Change)] {
  images.indices.compactMap { i in
    let next = i + 1 < images.count ? images[i + 1] : nil
    let after = next.map(\.row) ?? current
    // The hub deleted the row while the device's own delete was pending. If an app wrote the row again, it is a new
    // row.
    let isNew = images[i].isGone && next?.isGone != true && after != nil
    return Change(from: isNew ? nil : images[i].row, to: after).map { (images[i], $0) }
  }
}
