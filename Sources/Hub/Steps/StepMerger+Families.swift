import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Families of deletes: a row, and the rows that ON DELETE CASCADE deleted with it on the device.
///
/// The hub deletes a family as a whole or keeps all of its rows. In an export, the children come first. So the merger
/// sets deletes aside until it knows all deletes of the generation.
extension StepMerger {
  /// Sets a delete aside until the other deletes of its family are known.
  func setAside(_ pending: Pending, of row: RowReference) {
    waiting[row] = [pending]
    order.append(row)
    deletes.append(row)
  }

  /// Merges the deletes that were set aside, after all deletes of their families are known. Deletes that cannot be
  /// merged yet wait.
  ///
  /// This method tries only families with a new delete, and compares new deletes only with the last few waiting rows.
  /// Otherwise a bundle that alternates deletes and other steps would make the hub try all waiting deletes again and
  /// again.
  func takeFamilies() throws {
    let new = Set(deletes)
    let most = deletes.count + Self.mostEarlier
    var seen: Set<RowReference> = []
    let rows = (Array(order.suffix(most)) + collected.rows.suffix(most) + deletes).filter {
      seen.insert($0).inserted && isDelete($0)
    }
    deletes = []
    try takeAll(families(among: rows).filter { $0.rows.contains(where: new.contains) })
    // Only the last `most` rows can have changed, so the rows before them are not examined.
    let left = order.suffix(most).filter { waiting[$0] != nil }
    order.removeLast(min(most, order.count))
    order += left
  }

  /// The number of earlier waiting rows that are compared with new deletes. Deletes of one family follow one another
  /// closely. Only deletes of other tables may be between them.
  private static let mostEarlier = 32

  /// Tries the families of all waiting deletes. Returns the families of more than one row that cannot be merged yet.
  func takeAllFamilies() throws -> [StepGroup] {
    deletes = []
    let left = try takeAll(families(among: (order + collected.rows).filter { isDelete($0) }))
    order.removeAll { waiting[$0] == nil }
    return left
  }

  /// Merges families. A family with a step of a unit is merged later, together with the unit.
  /// - Returns: the families of more than one row that cannot be merged yet. Their deletes wait.
  @discardableResult
  private func takeAll(_ families: [StepGroup]) throws -> [StepGroup] {
    var left: [StepGroup] = []
    for family in families {
      if family.items.contains(where: { $0.pending.step.unit != nil }) {
        collected.families.append(family)
      } else if try !take(family), family.items.count > 1 {
        left.append(family)
      }
    }
    return left
  }

  /// Whether the first waiting step of a row is a delete that may belong to a family. Deletes in waiting units do not
  /// count.
  private func isDelete(_ row: RowReference) -> Bool {
    guard familyTables.contains(row.place), let first = waiting[row]?.first, case .delete = first.step.change else {
      return false
    }
    return !grouped.contains(first.number)
  }

  /// Leaves the children of a family in the hub's tables, so that their parents stay too. Each parent's delete becomes
  /// a conflict. If the user may not see the first row, the deletes of hidden rows become one conflict. If the hub gave
  /// a child another parent, the child's delete is decided alone.
  ///
  /// Rows without a remaining step stay in `order`. The caller removes them once for all families.
  func refuse(_ family: StepGroup) throws {
    let members = try members(of: family)
    try setAsideHidden(members)
    var staying: [Name: Int] = [:]
    for row in members.children where waiting[row] != nil {
      let isHidden = members.hidden.contains(row)
      // If the hub has no first row of the family, no other conflict records this delete.
      if isHidden, members.heads.isEmpty { continue }
      dropFirst(of: row)
      // The device receives the note. So the note must not count hidden rows.
      if !isHidden { staying[store.tables[row.place].name, default: 0] += 1 }
      try store.owe(row.key, in: row.place, to: device.id, isHidden ? .ifVisible : .always)
    }
    if staying.isEmpty { return }
    for row in family.rows where !family.children.contains(row) {
      stayingWith[row] =
        "The device deleted other rows with this row. The hub keeps those rows too: \(Self.words(of: staying))."
    }
  }

  /// The rows of a family that exist at the hub.
  struct FamilyMembers {
    /// The rows that are no child of another row in the family.
    var heads: [RowReference] = []
    /// The rows whose parent at the hub is still a row of the family.
    var children: [RowReference] = []
    /// The heads and children that the user may not see.
    var hidden: Set<RowReference> = []
  }

  private func members(of family: StepGroup) throws -> FamilyMembers {
    let parents = Set(family.rows.flatMap { bonds(ofParent: $0) })
    var members = FamilyMembers()
    for row in family.rows {
      guard let found = try scope.find(row.key, in: row.place) else { continue }
      if !family.children.contains(row) {
        members.heads.append(row)
      } else if bonds(of: found.row, ofChild: row).contains(where: parents.contains) {
        members.children.append(row)
      } else {
        continue
      }
      if found.isOutOfReach { members.hidden.insert(row) }
    }
    return members
  }

  static func words(of counts: [Name: Int]) -> String {
    counts.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }.joined(separator: ", ")
  }

  /// Adds to the note of a refused delete which rows stay with the row.
  func noteWithFamily(_ note: String?, _ step: Step, in place: Int) -> String? {
    guard case .delete = step.change, let words = stayingWith[RowReference(place: place, key: step.key)] else {
      return note
    }
    return [note, words].compactMap(\.self).joined(separator: " ")
  }

  // MARK: the members of families

  /// The link between a child's delete and its parent's delete. Both deletes have an equal bond.
  private struct Bond: Hashable {
    let key: ForeignKey
    let child: Int
    let generation: Generation
    let values: [Value]
  }

  /// Sorts deletes into families. A row without relatives forms its own family.
  private func families(among rows: [RowReference]) -> [StepGroup] {
    var parents: [Bond: Int] = [:]
    for (number, row) in rows.enumerated() {
      for bond in bonds(ofParent: row) { parents[bond] = number }
    }
    var sets = DisjointSets(count: rows.count)
    var children: Set<RowReference> = []
    for (number, row) in rows.enumerated() {
      for bond in bonds(ofChild: row) {
        guard let parent = parents[bond], parent != number else { continue }
        children.insert(row)
        sets.join(number, parent)
      }
    }
    var members: [Int: [RowReference]] = [:]
    for (number, row) in rows.enumerated() { members[sets.head(of: number), default: []].append(row) }
    return rows.indices.compactMap { members[$0] }.map { rows in
      let items = rows.compactMap { row in waiting[row]?.first.map { StepGroup.Item(row: row, pending: $0) } }
      return StepGroup(items: items, children: children.intersection(rows), isUnit: false)
    }
  }

  private func deleted(_ row: RowReference) -> (was: Row, generation: Generation)? {
    guard let step = waiting[row]?.first?.step, case .delete(let was) = step.change else { return nil }
    return (was, step.generation)
  }

  private func bonds(ofChild row: RowReference) -> [Bond] {
    deleted(row).map { bonds(of: $0.was, ofChild: row) } ?? []
  }

  /// - Parameter image: the child row as the device deleted it, or as the hub has it.
  private func bonds(of image: Row, ofChild row: RowReference) -> [Bond] {
    guard let generation = deleted(row)?.generation else { return [] }
    return store.tables[row.place].schema.foreignKeys.filter(\.deletesChildren).compactMap { key in
      let values = key.columns.map { image[$0] }
      if values.contains(where: \.isNull) { return nil }
      return Bond(key: key, child: row.place, generation: generation, values: folded(values, along: key))
    }
  }

  /// Returns the bonds between a parent and its children. If the hub only marks deleted rows in the parent's table,
  /// there are no bonds: each child is decided alone.
  private func bonds(ofParent row: RowReference) -> [Bond] {
    guard let (was, generation) = deleted(row) else { return [] }
    if case .soft = store.tables[row.place].rules.delete { return [] }
    let schema = store.tables[row.place].schema
    return store.tables.enumerated().flatMap { child, table in
      table.schema.foreignKeys.filter { $0.deletesChildren && $0.parent == schema.name }.compactMap { key in
        let values = key.parentColumns.compactMap { schema.position(of: $0).map { was[$0] } }
        if values.count != key.parentColumns.count { return nil }
        return Bond(key: key, child: child, generation: generation, values: folded(values, along: key))
      }
    }
  }

  /// Returns the values of a reference in the form in which SQLite compares them.
  private func folded(_ values: [Value], along key: ForeignKey) -> [Value] {
    zip(knownComparisons(along: key), values).map { $0.folded($1) }
  }

  /// Returns how SQLite compares the columns to which a reference leads. The result is remembered for later calls.
  func knownComparisons(along key: ForeignKey) -> [Comparison] {
    if let known = comparisons[key] { return known }
    let found = store.database.comparisons(ofParentIn: key)
    comparisons[key] = found
    return found
  }
}

extension HubStore {
  /// The tables that take part in ON DELETE CASCADE, as child or as parent.
  var tablesOfFamilies: Set<Int> {
    var places: Set<Int> = []
    for (child, table) in tables.enumerated() {
      for key in table.schema.foreignKeys where key.deletesChildren {
        guard let parent = place(of: key.parent) else { continue }
        places.formUnion([child, parent])
      }
    }
    return places
  }
}
