/// A row as it was before its first write in a generation, with the stamp of its last write in it.
public struct PreImage: Hashable, Sendable {
  public let generation: Generation
  public let stamp: Stamp
  /// The first write of the row in the generation; nil: it is not known.
  public let first: FirstWrite?
  /// The row before the write; nil: the row did not exist.
  public let row: Row?
  /// Whether the hub's row is already deleted or out of scope. The image still exists, because a deletion must still
  /// reach the hub.
  public let isGone: Bool
  /// The unit of the row's first write in its generation; nil: no unit was recorded.
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

  /// The row as the hub has it, as far as this device knows; nil: the hub has no such row.
  public var hubRow: Row? { isGone ? nil : row }

  /// A copy of this image with the row that `body` makes from its row.
  public func mapRow(_ body: (Row) -> Row) -> PreImage {
    with(row: row.map(body), isGone: isGone)
  }

  /// A copy of this image with another row.
  public func with(row: Row?, isGone: Bool = false) -> PreImage {
    PreImage(generation: generation, stamp: stamp, first: first, row: row, isGone: isGone, unit: unit)
  }
}

/// The changes of a row, derived from its pre-images and its present state. Each generation has at most one change, and
/// the oldest is first.
public func changes(from images: [PreImage], to current: Row?) -> [(image: PreImage, change: Change)] {
  images.indices.compactMap { i in
    let next = i + 1 < images.count ? images[i + 1] : nil
    let after = next.map(\.row) ?? current
    // A row that the hub deleted while its deletion was pending, and that the app wrote again, is a new row.
    let isNew = images[i].isGone && next?.isGone != true && after != nil
    return Change(from: isNew ? nil : images[i].row, to: after).map { (images[i], $0) }
  }
}
