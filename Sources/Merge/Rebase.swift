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
  let pending = Dictionary(
    uniqueKeysWithValues: changes(from: images, to: current).map { ($0.image.generation, $0.change) })
  var row = incoming
  var moved: [PreImage] = []
  var conflicts: [Rebased.Lost] = []
  for image in images {
    moved.append(image.with(row: row))
    guard let change = pending[image.generation] else { continue }
    if row == nil, case .delete(let was) = change {
      // Gone, or out of sight: the deletion is sent to the hub all the same. It may bring back a row whose deletion was
      // seen.
      moved = moved.map { $0.with(row: was, isGone: true) }
      continue
    }
    let result = merge(
      change, at: image.stamp, onto: row, others: others, by: rules.forChange(change, first: image.first))
    if let disagreement = result.disagreement {
      conflicts.append(.init(image: image, change: change, disagreement: disagreement, met: row))
    }
    row = result.row
  }
  return Rebased(row: row, images: moved, conflicts: conflicts)
}

extension OthersChanges {
  /// What others did to a row, as the values tell from which a change started: a value that differs by now was changed
  /// by another writer.
  /// - Parameter stamp: of the row's newest change.
  public static func difference(meeting change: Change, onto row: Row?, at stamp: Stamp) -> OthersChanges {
    var others = OthersChanges(newest: stamp)
    guard let row else {
      if case .update = change { others.presence = true }
      return others
    }
    let columns: [Int] =
      switch change {
      case .insert(let new): new.values.indices.filter { row[$0] != new[$0] }
      case .update(let changes): changes.filter { row[$0.column] != $0.was }.map(\.column)
      case .delete(let was): was.values.indices.filter { row[$0] != was[$0] }
      }
    for column in columns { others.columns[column] = stamp }
    return others
  }
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
