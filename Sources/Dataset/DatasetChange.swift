import SatchelValues

/// The differences between a version of a dataset and the next version.
public struct DatasetChange: Sendable {
  /// The tables that join the dataset, and the tables that leave it.
  public let added: [Name]
  public let removed: [Name]
  /// For each table that stays: the names of its rules that changed.
  public let rules: [(table: Name, members: [String])]
  /// The names of the definition's own members that changed.
  public let members: [String]

  /// Throws a `DatasetError` if `new` cannot be the next version after `old`.
  public init(from old: DatasetDefinition, to new: DatasetDefinition) throws(DatasetError) {
    guard Name(old.name) == Name(new.name) else {
      throw DatasetError("dataset", "it is \"\(new.name)\", and this hub's dataset is \(old.name)")
    }
    guard new.version == old.version + 1 else {
      throw DatasetError(
        "version", "it is \(new.version), and the present version is \(old.version)",
        hint: "Versions have no gaps: say \"version\": \(old.version + 1).")
    }
    for attribute in old.attributes {
      guard let same = new.attribute(attribute.name), same.kind != attribute.kind else { continue }
      throw DatasetError(
        "attributes.\(attribute.name)", "it is \(attribute.kind.rawValue), and users have values of that kind",
        hint: "Give an attribute of another kind another name.")
    }
    for table in old.tables {
      try Self.checkKeys(of: table, becoming: new.rules(for: table.name))
      try Self.checkNames(of: table, becoming: new.rules(for: table.name))
    }
    added = new.tables.map(\.name).filter { old.rules(for: $0) == nil }
    removed = old.tables.map(\.name).filter { new.rules(for: $0) == nil }
    rules = new.tables.compactMap { table in
      let changed = old.rules(for: table.name)?.differences(from: table) ?? []
      return changed.isEmpty ? nil : (table.name, changed)
    }
    members = [
      ("snapshot", old.snapshot == new.snapshot), ("prove", old.prove == new.prove),
      ("history", old.historyDays == new.historyDays), ("brake", old.brake == new.brake),
      ("attachments", old.attachments == new.attachments),
      ("encrypt", old.encryption == new.encryption),
      ("escrow", old.escrow.map(\.text) == new.escrow.map(\.text)), ("attributes", old.attributes == new.attributes),
    ].filter { !$0.1 }.map(\.0)
  }

  /// Throws a `DatasetError` if the number of columns in `key` changes, because bundles on their way identify rows by
  /// these columns. A migration may rename the columns. So another check after the migration compares them.
  private static func checkNames(of old: TableRules, becoming new: TableRules?) throws(DatasetError) {
    guard let new, old.key?.count != new.key?.count else { return }
    let present = old.key.map { "by \($0.map(\.text).joined(separator: ", "))" } ?? "by their PRIMARY KEY"
    throw DatasetError(
      "tables.\(old.name).key", "its rows are named \(present), which cannot change from version to version",
      hint: "Leave \"key\" as it is, or make a table of another name and copy the rows into it.")
  }

  /// Throws a `DatasetError` if the rule for keys changes. Bundles on their way have keys that followed the former
  /// rule, and another rule could not read them.
  private static func checkKeys(of old: TableRules, becoming new: TableRules?) throws(DatasetError) {
    if old.keys == new?.keys ?? .asIs { return }
    guard new != nil else {
      throw DatasetError(
        "tables.\(old.name)",
        "its keys are given by \"\(old.keys.rawValue)\", and such a table cannot leave the dataset")
    }
    throw DatasetError(
      "tables.\(old.name).keys", "it is \"\(old.keys.rawValue)\", which cannot change from version to version",
      hint: "Leave it as it is, or begin with another hub.")
  }
}

extension TableRules {
  /// The names of the rules that differ from `other`.
  fileprivate func differences(from other: TableRules) -> [String] {
    [
      ("key", key == other.key),
      ("parents", parents == other.parents && parentsMatch == other.parentsMatch),
      ("orphans", orphans == other.orphans),
      ("references", Set(references) == Set(other.references)),
      ("visible", visible == other.visible),
      ("write", write == other.write), ("conflict", conflict == other.conflict), ("merge", merge == other.merge),
      ("columns", columns == other.columns), ("attachments", attachments == other.attachments),
      ("unique", unique == other.unique), ("delete", delete == other.delete), ("late", late == other.late),
      ("block", block == other.block), ("unit", unit == other.unit), ("brake", brake == other.brake),
      ("label", label == other.label), ("priority", priority == other.priority),
    ].filter { !$0.1 }.map(\.0)
  }
}
