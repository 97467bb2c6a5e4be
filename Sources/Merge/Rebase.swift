import SatchelValues

/// A device's pending changes of one row, replayed on the hub's row.
public struct Rebased: Sendable {
  public struct Lost: Sendable {
    public let image: PreImage
    public let change: Change
    public let disagreement: Disagreement
    /// The row that the change met.
    public let met: Row?
  }

  /// The row as the device is to have it.
  public let row: Row?
  /// Pre-images as if the changes had been made on the hub's row; each keeps its generation and stamp.
  public let images: [PreImage]
  public let conflicts: [Lost]
}

/// Replays the pending changes of one row on the row that came from the hub, by the same merge as the hub's.
/// - Parameters:
///   - images: the row's pre-images, oldest generation first; never empty.
///   - current: the row as the device has it.
///   - incoming: the row as the hub has it; nil where it is gone or no longer to be seen.
///   - incomingStamp: the stamp of the hub's row.
public func rebase(
  _ images: [PreImage], to current: Row?, onto incoming: Row?, at incomingStamp: Stamp, by rules: MergeRules
) -> Rebased {
  let others = difference(from: images[0].row, to: incoming, at: incomingStamp)
  let pending = Dictionary(uniqueKeysWithValues: changes(from: images, to: current).map { ($0.image.generation, $0.change) })
  var row = incoming
  var moved: [PreImage] = []
  var conflicts: [Rebased.Lost] = []
  for image in images {
    moved.append(PreImage(generation: image.generation, stamp: image.stamp, row: row))
    guard let change = pending[image.generation] else { continue }
    let result = merge(change, at: image.stamp, onto: row, others: others, by: rules)
    if let disagreement = result.disagreement {
      conflicts.append(.init(image: image, change: change, disagreement: disagreement, met: row))
    }
    row = result.row
  }
  return Rebased(row: row, images: moved, conflicts: conflicts)
}

private func difference(from base: Row?, to incoming: Row?, at stamp: Stamp) -> OthersChanges {
  switch Change(from: base, to: incoming) {
  case nil: OthersChanges(newest: stamp)
  case .update(let changes):
    OthersChanges(columns: Dictionary(uniqueKeysWithValues: changes.map { ($0.column, stamp) }), newest: stamp)
  case .insert(let row):
    OthersChanges(
      columns: Dictionary(uniqueKeysWithValues: row.values.indices.map { ($0, stamp) }), presence: true, newest: stamp)
  case .delete: OthersChanges(presence: true, newest: stamp)
  }
}
