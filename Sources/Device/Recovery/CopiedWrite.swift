import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelMerge
import SatchelSQLite
import SatchelValues

/// A row that was written in an old copy of the database, compared with the exports of the newer database.
///
/// The copy and the newer database may share writes that were made before the copy. The first write of a row shows
/// this. If two changes of one generation begin with the same write, they share this write.
struct CopiedWrite {
  /// The row before the part of the write that no export contains.
  let image: PreImage
  let current: Row?
  let origin: Origin

  /// The order in which a row was written in the copy and in the newer database.
  enum Origin {
    /// The write was made after the copy, on the values that the image shows.
    case later
    /// The row had these values before the copy was made, and an exported change replaced them.
    case former
    /// A part of the write may be in the exports, or was taken back before an export, and nothing shows how much.
    case unclear
  }

  /// Compares a row that was written in the old copy with the exported changes of that row. Returns nil if the exports
  /// contain the whole write.
  /// - Parameters:
  ///   - image: the row before its first write in the copy's last generation.
  ///   - lines: the exported changes of the row that may contain the same writes, oldest first.
  ///   - exported: the time of the first export after the copy was made. nil if there is none.
  ///   - isUnseen: whether no trigger recorded the write. If so, nothing shows whether it was made before the copy.
  static func find(
    _ image: PreImage, to current: Row?, exported lines: [ChangeLine], at exported: Stamp?, isUnseen: Bool,
    in table: TrackedTable, _ database: borrowing Database
  ) throws -> CopiedWrite? {
    let isChanged = image.row != current
    func whole(_ origin: Origin) -> CopiedWrite? {
      isChanged ? CopiedWrite(image: image, current: current, origin: origin) : nil
    }
    guard let line = lines.last else {
      // If the write began before the first export, the newer database also had the write. Afterwards the newer
      // database took the write back, or the hub acknowledged the write.
      return whole(exported.map { (image.first?.stamp ?? image.stamp) <= $0 } ?? false ? .unclear : .later)
    }
    let rules = MergeRules(table.rules, schema: table.schema)
    let end = try lines.reduce(image.row) { try $1.end(from: $0, in: table.schema, by: rules, database) }
    /// The part of the write that is in no export, if both databases may contain the write.
    func beyondCommon() -> CopiedWrite? {
      if rules.isUnclear(from: image.row, to: current, and: end) {
        // If the copy deleted the row, the delete starts from the exported row.
        return CopiedWrite(
          image: current == nil ? image.with(row: end) : image, current: current, origin: .unclear)
      }
      return rest(image.with(row: end), to: rules.joined(current, from: image.row, with: end))
    }
    if isUnseen { return beyondCommon() }
    // An earlier repair already brought this write from the copy. A part of the write may have lost to the values of
    // the newer database.
    if lines.contains(where: { $0.stamp == image.stamp && $0.generation != image.generation }) { return nil }
    if line.stamp == image.stamp, end == current { return nil }
    guard let first = image.first, let exportedFirst = line.first else {
      // A smaller stamp counts as an earlier write, although a clock may have been set back. A different write with the
      // same stamp was made after the copy: two writes of a row in one database never have one stamp.
      if image.stamp < line.stamp { return whole(.former) }
      return isChanged ? whole(.later) : rest(image.with(row: end), to: current)
    }
    if first.stamp != exportedFirst.stamp { return whole(.later) }
    if first.isOnly, exportedFirst.isOnly { return isPart(end, of: current, from: image.row) ? nil : whole(.later) }
    if first.isOnly { return nil }
    if exportedFirst.isOnly { return rest(image.with(row: end), to: current) }
    // An earlier repair may have brought the write of another copy, which was written later than this copy.
    if line.generation == image.generation, image.stamp <= line.stamp { return whole(.former) }
    return beyondCommon()
  }

  /// Whether another row has all changes of a row. Before the export, an import may have undone the other columns of a
  /// write.
  private static func isPart(_ row: Row?, of other: Row?, from base: Row?) -> Bool {
    guard let row, let other, let base else { return row == other }
    return row.values.indices.allSatisfy { row[$0] == base[$0] || row[$0] == other[$0] }
  }

  /// The part of a write after the exported change; nil: nothing is left.
  private static func rest(_ image: PreImage, to row: Row?) -> CopiedWrite? {
    image.row == row ? nil : CopiedWrite(image: image, current: row, origin: .later)
  }
}

extension MergeRules {
  /// Whether two databases with a common write differ in a value that both changed afterwards. If so, nothing shows
  /// which value is the common value, or how much of a counter is common.
  fileprivate func isUnclear(from base: Row?, to row: Row?, and other: Row?) -> Bool {
    guard let row, let other else { return row != other }
    return row.values.indices.contains { column in
      let how = combination(of: column)
      if how == .union { return false }
      guard let base else { return row[column] != other[column] }
      // Equal counters are unclear too, because both databases may have added the same number after the common write.
      if row[column] == other[column], how != .sum { return false }
      return row[column] != base[column] && other[column] != base[column]
    }
  }

  /// The row with the values that another database wrote into other columns after the common write. A set has the
  /// elements of both databases, because neither removed an element that only the other added.
  fileprivate func joined(_ row: Row?, from base: Row?, with other: Row?) -> Row? {
    guard var row, let other else { return row }
    for column in row.values.indices where row[column] != other[column] {
      if combination(of: column) == .union {
        let both = combine(.union, base: .string("[]"), hub: other[column], device: row[column])
        row[column] = both ?? row[column]
      } else if row[column] == base?[column] {
        row[column] = other[column]
      }
    }
    return row
  }
}

extension ChangeLine {
  /// Returns a row with this change of a device. The change may have been exported later, from other values. So
  /// counters and sets get only its difference.
  fileprivate func end(
    from row: Row?, in schema: TableSchema, by rules: MergeRules, _ database: borrowing Database
  ) throws -> Row? {
    switch content {
    case .insert(let fields): return try schema.row(kept: fields, in: database)
    case .update(let set, let was):
      guard var row else { return nil }
      for (set, was) in zip(set, was) {
        guard let column = schema.position(of: set.name) else { continue }
        let how = rules.countsDifferences(of: column) ? rules.combination(of: column) : nil
        row[column] =
          how.flatMap { combine($0, base: was.value, hub: row[column], device: set.value) } ?? set.value
      }
      return row
    case .delete: return nil
    case .row, .gone, .rekey, .block: return row
    }
  }
}

// MARK: writes that are not repeated

extension CopiedWrite {
  /// Leaves the row as it is. The write becomes a conflict, which is open if nothing shows which part of the write is
  /// in the exports.
  /// - Parameter image: the write's image in its new generation.
  func kept(_ image: PreImage, onto target: Row?, by rules: MergeRules) -> Rebased {
    var conflicts: [Rebased.Lost] = []
    if let change = Change(from: image.row, to: current),
      let disagreement = disagreement(of: change, with: target, by: rules)
    {
      conflicts.append(.init(image: image, change: change, disagreement: disagreement, met: target))
    }
    return Rebased(row: target, images: [image.with(row: target)], conflicts: conflicts)
  }

  private func disagreement(of change: Change, with target: Row?, by rules: MergeRules) -> Disagreement? {
    let state = origin == .unclear ? ConflictState.open : .settled
    guard let target else {
      if case .delete = change { return nil }
      return Disagreement(kind: .updateDelete, state: state)
    }
    func differing(_ kind: ConflictKind, _ values: [(column: Int, value: Value)]) -> Disagreement? {
      let lost = values.filter {
        target[$0.column] != $0.value || origin == .unclear && rules.combination(of: $0.column) == .sum
      }
      if lost.isEmpty { return nil }
      return Disagreement(
        kind: kind, state: state, winners: Dictionary(uniqueKeysWithValues: lost.map { ($0.column, Winner.hub) }))
    }
    switch change {
    case .insert(let row): return differing(.insertInsert, row.values.enumerated().map { ($0.offset, $0.element) })
    case .update(let changes): return differing(.updateUpdate, changes.map { ($0.column, $0.value) })
    case .delete: return Disagreement(kind: .deleteUpdate, state: state)
    }
  }
}
