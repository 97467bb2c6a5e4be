/// A row as it was before its first write in a generation, with the stamp of its last write there.
public struct PreImage: Hashable, Sendable {
  public let generation: Generation
  public let stamp: Stamp
  /// nil: the row was not there.
  public let row: Row?

  public init(generation: Generation, stamp: Stamp, row: Row?) {
    self.generation = generation
    self.stamp = stamp
    self.row = row
  }
}

/// What a row's pre-images and its present state say happened to it, one change a generation, oldest first.
public func changes(from images: [PreImage], to current: Row?) -> [(image: PreImage, change: Change)] {
  images.indices.compactMap { i in
    let after = i + 1 < images.count ? images[i + 1].row : current
    return Change(from: images[i].row, to: after).map { (images[i], $0) }
  }
}
