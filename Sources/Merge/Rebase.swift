import SatchelValues

/// A device's pending changes of a row, repeated on the hub's row.
public struct Rebased: Sendable {
  public struct Lost: Sendable {
    public let image: PreImage
    public let change: Change
    public let disagreement: Disagreement
    /// The row with which the change disagreed.
    public let met: Row?

    public init(image: PreImage, change: Change, disagreement: Disagreement, met: Row?) {
      (self.image, self.change, self.disagreement, self.met) = (image, change, disagreement, met)
    }
  }

  /// The row that the device will have; nil if the device will not have the row.
  public let row: Row?
  /// The pre-images that the changes would have if they had been made on the hub's row. Each keeps its generation and
  /// stamp.
  public let images: [PreImage]
  public let conflicts: [Lost]
  /// Deletes of a row that another writer had marked as deleted. They change nothing. They are conflicts only if they
  /// belong to a unit with other changes.
  public let repeatedDeletes: [Lost]

  public init(row: Row?, images: [PreImage], conflicts: [Lost], repeatedDeletes: [Lost] = []) {
    (self.row, self.images, self.conflicts) = (row, images, conflicts)
    self.repeatedDeletes = repeatedDeletes
  }
}

/// The hub's statement about the writes that others made to a row since the device's emission.
public struct ToldWrites: Sendable {
  /// For each column that others wrote, the newest stamp.
  public let columns: [Int: Stamp]
  /// Whether the hub's statement names all such writes. It does if the hub knows the device's emission.
  public let isWhole: Bool

  /// - Parameters:
  ///   - stamp: the stamp of the row, for writes without a stamp of their own.
  ///   - number: the device's present emission.
  ///   - isWhole: whether the hub names this emission among those on which the device may be.
  public init(
    _ writes: [OthersWrite], in schema: TableSchema, beside stamp: Stamp, on number: EmissionNumber, isWhole: Bool
  ) {
    var columns: [Int: Stamp] = [:]
    for write in writes where write.after.map({ number <= $0 }) ?? true {
      if let column = schema.position(of: write.column) { columns[column] = write.stamp ?? stamp }
    }
    self.init(columns: columns, isWhole: isWhole)
  }

  public init(columns: [Int: Stamp], isWhole: Bool) {
    self.columns = columns
    self.isWhole = isWhole
  }
}

/// Repeats the pending changes of a row on the row that came from the hub. The rules are those of the hub's merge.
/// - Parameters:
///   - images: the row's pre-images, oldest generation first; never empty.
///   - current: the device's present row.
///   - incoming: the hub's row; nil if it is deleted or outside the user's scope.
///   - incomingStamp: the stamp of the hub's row.
///   - told: the hub's statement about the writes of others; nil if there is none.
public func rebase(
  _ images: [PreImage], to current: Row?, onto incoming: Row?, at incomingStamp: Stamp, told: ToldWrites? = nil,
  by rules: MergeRules
) -> Rebased {
  let others = difference(from: images[0].row, to: incoming, at: incomingStamp, told)
  let pending = Dictionary(
    uniqueKeysWithValues: changes(from: images, to: current).map { ($0.image.generation, $0.change) })
  var row = incoming
  var moved: [PreImage] = []
  var (conflicts, repeatedDeletes): ([Rebased.Lost], [Rebased.Lost]) = ([], [])
  var own: Set<Int> = []
  for image in images {
    moved.append(image.with(row: row))
    guard let change = pending[image.generation] else { continue }
    if row == nil, case .delete(let was) = change {
      // The row is gone, but the delete stays pending: the hub may bring a deleted row back if it does not know that
      // the device deleted it.
      moved = moved.map { $0.with(row: was, isGone: true) }
      continue
    }
    var met = told?.isWhole == true ? others.meeting(change, onto: row) : others
    met.own = own
    // If the device had the row, deleted it and inserted it again, the counters of the hub's row may contain this
    // device's work.
    let rules = images[0].row == nil ? rules : rules.countingEqualCountersOnce
    let result = merge(
      change, at: image.stamp, onto: row, others: met, by: rules.forChange(change, first: image.first))
    if let disagreement = result.disagreement {
      conflicts.append(.init(image: image, change: change, disagreement: disagreement, met: row))
    }
    if result.repeatsDelete {
      repeatedDeletes.append(
        .init(image: image, change: change, disagreement: .repeatedDelete(by: rules.table), met: row))
    }
    if case .update(let changes) = change, result.disagreement?.winners.values.contains(.hub) != true {
      own.formUnion(changes.map(\.column))
    }
    row = result.row
  }
  return Rebased(row: row, images: moved, conflicts: conflicts, repeatedDeletes: repeatedDeletes)
}

extension OthersChanges {
  /// Derives the changes of others from the values with which a change started. A column whose value is different now
  /// was changed by another writer.
  /// - Parameter stamp: the stamp of the row's newest change.
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

/// The changes of others to a row since the device had it: by the hub's statement if it is complete, otherwise by a
/// comparison of values.
private func difference(
  from base: Row?, to incoming: Row?, at stamp: Stamp, _ told: ToldWrites?
) -> OthersChanges {
  func at(_ columns: [Int]) -> [Int: Stamp] {
    Dictionary(uniqueKeysWithValues: columns.map { ($0, told?.columns[$0] ?? stamp) })
  }
  if let told, told.isWhole, base != nil, incoming != nil {
    return OthersChanges(columns: told.columns, newest: stamp)
  }
  switch Change(from: base, to: incoming) {
  case nil: return OthersChanges(newest: stamp)
  case .update(let changes): return OthersChanges(columns: at(changes.map(\.column)), newest: stamp)
  case .insert(let row):
    return OthersChanges(columns: at(Array(row.values.indices)), presence: true, newest: stamp)
  case .delete: return OthersChanges(presence: true, newest: stamp)
  }
}
