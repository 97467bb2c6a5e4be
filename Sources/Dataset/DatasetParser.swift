import SatchelCrypto
import SatchelJSON
import SatchelValues

extension DatasetDefinition {
  /// The most bytes of a definition. People write the rules, so a definition is small.
  public static let maximumBytes = 1 << 20

  /// Reads a definition. Throws a `DatasetError` with the place of the first error. An unknown member is an error
  /// too, because a rule that is silently ignored would protect nothing.
  public init(json bytes: [UInt8]) throws(DatasetError) {
    let document: JSONValue
    do { document = try JSONValue.parse(bytes, limits: JSONLimits()) } catch {
      throw DatasetError(
        "", "it is not JSON: \(error.reason), in \(error.place(in: bytes))",
        hint: "It is the file that names tables and rules: docs/DATASET.md describes it.")
    }
    let root = try Members(
      document, at: "",
      known: [
        "dataset", "version", "snapshot", "prove", "history", "brake", "orphans", "encrypt", "escrow",
        "attributes", "attachments", "tables", "$schema",
      ])
    name = try root.string("dataset")
    guard isSafeName(name) else {
      throw DatasetError("dataset", "\"\(name)\" cannot be part of a file name", hint: safeNameHint)
    }
    version = try root.integer("version")
    guard (1..<1 << 53).contains(version) else {
      throw DatasetError("version", "it must be a whole number from 1 on, below 2^53")
    }
    snapshot = try Self.snapshotRule(root)
    prove = try Self.proofRule(root)
    historyDays = try Self.historyDays(root)
    brake = try Self.brake(root, within: .usual)
    orphans = try root.word("orphans", of: OrphanRule.self)
    encryption = try root.word("encrypt", of: EncryptionRule.self) ?? .never
    escrow = try Self.escrow(root)
    attachments = try Self.attachments(root)
    attributes = try root.members("attributes").map { member throws(DatasetError) in
      let place = "attributes.\(member.name)"
      guard let word = member.value.stringValue, let kind = Attribute.Kind(rawValue: word) else {
        throw DatasetError(place, "the kind of an attribute is \(oneOf(Attribute.Kind.allCases))")
      }
      guard member.name != "user" else { throw DatasetError(place, "`user` is the user's name already") }
      guard !member.name.lowercased().hasPrefix("satchel_") else {
        throw DatasetError(place, "names that begin with satchel_ belong to Satchel")
      }
      guard isParameterName(member.name) else {
        throw DatasetError(place, "an attribute's name is made of letters, digits and _, and begins with a letter")
      }
      return Attribute(name: Name(member.name), kind: kind)
    }
    let (brake, orphans) = (brake, orphans ?? .visible)
    tables = try root.members("tables").map { member throws(DatasetError) in
      try TableRules(
        name: Name(member.name), definition: member.value, at: "tables.\(member.name)", within: brake, orphans)
    }
    guard !tables.isEmpty else { throw DatasetError("tables", "at least one table must be named") }
    source = bytes
    try checkParents()
  }

  private static func snapshotRule(_ root: Members) throws(DatasetError) -> SnapshotRule {
    switch root["snapshot"] {
    case nil: return .first
    case .integer(let count) where count > 0: return .every(count)
    case .string("first"): return .first
    case .string("always"): return .always
    case .string("never"): return .never
    default: throw DatasetError("snapshot", "it is \"first\", \"always\", \"never\" or a whole number from 1 on")
    }
  }

  private static func proofRule(_ root: Members) throws(DatasetError) -> ProofRule {
    switch root["prove"] {
    case nil: return .usual
    case .integer(let count) where count > 0: return .every(count)
    case .string("always"): return .always
    case .string("never"): return .never
    default: throw DatasetError("prove", "it is \"always\", \"never\" or a whole number from 1 on")
    }
  }

  private static func historyDays(_ root: Members) throws(DatasetError) -> Int64? {
    if root["history"] == nil { return nil }
    let days = try root.integer("history")
    guard (1...mostHistoryDays).contains(days) else {
      throw DatasetError("history", "it must be a number of days from 1 to \(mostHistoryDays)")
    }
    return days
  }

  /// A hundred years.
  private static let mostHistoryDays: Int64 = 36_500

  fileprivate static func brake(_ members: Members, within outer: Brake) throws(DatasetError) -> Brake {
    guard let value = members["brake"] else { return outer }
    return try Brake(Members(value, at: members.place("brake"), known: Brake.members), within: outer)
  }

  private static func escrow(_ root: Members) throws(DatasetError) -> [AgeRecipient] {
    guard let value = root["escrow"] else { return [] }
    guard let list = value.arrayValue, list.count <= 16 else {
      throw DatasetError("escrow", "it must be a list of at most 16 recipients, [\"age1...\"]")
    }
    return try list.map { item throws(DatasetError) in
      guard let recipient = item.stringValue.flatMap({ AgeRecipient($0) }) else {
        throw DatasetError("escrow", "a recipient is written as age-keygen shows it, \"age1...\"")
      }
      return recipient
    }
  }

  private static func attachments(_ root: Members) throws(DatasetError) -> AttachmentLimits {
    guard let value = root["attachments"] else { return .usual }
    let members = try Members(value, at: "attachments", known: ["file", "bundle"])
    func bytes(_ name: String, _ most: Int64, usual: Int64) throws(DatasetError) -> Int64 {
      if members[name] == nil { return usual }
      let bytes = try members.integer(name)
      guard (1...most).contains(bytes) else {
        throw DatasetError(members.place(name), "it must be a number of bytes from 1 to \(most)")
      }
      return bytes
    }
    let usual = AttachmentLimits.usual
    let file = try bytes("file", AttachmentLimits.mostFileBytes, usual: usual.fileBytes)
    let limits = AttachmentLimits(
      fileBytes: file,
      bundleBytes: try bytes("bundle", AttachmentLimits.mostBundleBytes, usual: max(usual.bundleBytes, file)))
    guard limits.bundleBytes >= limits.fileBytes else {
      throw DatasetError(
        "attachments.bundle", "a file of \(limits.fileBytes) bytes would fit into no bundle",
        hint: "Make it at least as large as attachments.file.")
    }
    return limits
  }

  private func checkParents() throws(DatasetError) {
    for table in tables {
      for parent in table.parents ?? [] where rules(for: parent) == nil {
        throw unknownTable(parent, at: "tables.\(table.name).parents")
      }
      for reference in table.references where rules(for: reference.table) == nil {
        throw unknownTable(reference.table, at: "tables.\(table.name).references.\(reference.column)")
      }
      if case .parent(let parent?) = table.unit, rules(for: parent) == nil {
        throw unknownTable(parent, at: "tables.\(table.name).unit")
      }
    }
  }

  private func unknownTable(_ name: Name, at place: String) -> DatasetError {
    DatasetError(
      place, "\"\(name)\" is not a table of this dataset",
      hint: DatasetError.hint(for: name, among: tables.map(\.name), of: "The dataset"))
  }
}

extension DeclaredReference {
  /// The form of a member is `"tree_fid": "trees"`, or `"tree": { "table": "trees", "column": "uuid" }`.
  fileprivate init(_ member: JSONValue.Member, at place: String) throws(DatasetError) {
    column = Name(member.name)
    if let name = member.value.stringValue {
      (table, parentColumn) = (Name(name), nil)
      return
    }
    guard member.value.objectValue != nil else {
      throw DatasetError(place, "it must be a table, \"trees\", or { \"table\": \"trees\", \"column\": \"uuid\" }")
    }
    let members = try Members(member.value, at: place, known: ["table", "column"])
    table = Name(try members.string("table"))
    parentColumn = try members.optionalString("column").map { Name($0) }
  }
}

extension TableRules {
  /// - Parameters:
  ///   - brake: the limits of the dataset.
  ///   - orphans: the rule of the dataset.
  init(
    name: Name, definition: JSONValue, at place: String, within brake: Brake, _ orphans: OrphanRule
  ) throws(DatasetError) {
    let members = try Members(
      definition, at: place,
      known: [
        "key", "parents", "orphans", "references", "visible", "write", "conflict", "merge", "columns", "attachments",
        "unique",
        "delete", "deleted", "late", "keys", "block", "unit", "brake",
        "label", "priority",
      ])
    self.name = name
    key = try Self.key(members)
    guard !name.text.lowercased().hasPrefix("satchel_"), !name.text.lowercased().hasPrefix("sqlite_") else {
      throw DatasetError(place, "names that begin with satchel_ and sqlite_ belong to Satchel and SQLite")
    }
    (parents, parentsMatch) = try Self.parents(members)
    self.orphans = try members.word("orphans", of: OrphanRule.self) ?? orphans
    references = try members.members("references").map { member throws(DatasetError) in
      try DeclaredReference(member, at: members.place("references.\(member.name)"))
    }
    visible = try members.optionalString("visible")
    switch try members.optionalString("write") {
    case nil: write = .visible
    case "none": write = .none
    case let expression?: write = .expression(expression)
    }
    conflict = try members.word("conflict", of: Policy.self) ?? .manual
    merge = try members.word("merge", of: MergeGrain.self) ?? .column
    columns = try Self.columns(members, merge)
    attachments = try Self.attachments(members)
    unique = try members.word("unique", of: UniqueRule.self) ?? .policy
    delete = try Self.delete(members)
    late = try members.word("late", of: LateRule.self) ?? .conflict
    keys = try members.word("keys", of: KeyRule.self) ?? .asIs
    block = try Self.block(members, keys)
    unit = try Self.unit(members)
    label = try members.optionalString("label").map { Name($0) }
    priority = try Self.priority(members)
    self.brake = try DatasetDefinition.brake(members, within: brake)
  }
}

extension TableRules {
  /// Reads the columns that identify a row, for example `["uuid"]`.
  private static func key(_ members: Members) throws(DatasetError) -> [Name]? {
    guard let value = members["key"] else { return nil }
    let place = members.place("key")
    let names = (value.arrayValue ?? []).compactMap(\.stringValue).map { Name($0) }
    guard let list = value.arrayValue, names.count == list.count, !names.isEmpty else {
      throw DatasetError(place, "it must be a list of columns that identify a row, [\"uuid\"]")
    }
    guard Set(names).count == names.count else { throw DatasetError(place, "a column occurs twice") }
    return names
  }

  /// Reads the parents: `["a", "b"]` if all must be visible, or `{ "any": ["a", "b"] }` if one visible parent is
  /// enough.
  private static func parents(_ members: Members) throws(DatasetError) -> ([Name]?, ParentsMatch) {
    guard let value = members["parents"] else { return (nil, .all) }
    let place = members.place("parents")
    var (list, match) = (value.arrayValue, ParentsMatch.all)
    if let object = value.objectValue, object.count == 1, let word = ParentsMatch(rawValue: object[0].name) {
      (list, match) = (object[0].value.arrayValue, word)
    }
    let names = list?.compactMap(\.stringValue) ?? []
    guard let list, names.count == list.count else {
      throw DatasetError(place, "it must be a list of tables, or { \"any\": [...] }")
    }
    return (names.map { Name($0) }, match)
  }

  private static func columns(_ members: Members, _ merge: MergeGrain) throws(DatasetError) -> [Name: ColumnPolicy] {
    var policies: [Name: ColumnPolicy] = [:]
    for column in try members.members("columns") {
      let place = members.place("columns.\(column.name)")
      guard let policy = column.value.stringValue.flatMap({ ColumnPolicy($0) }) else {
        throw DatasetError(place, "a policy is \(oneOf(Policy.allCases)), \(oneOf(Combination.allCases))")
      }
      if case .combination(let how) = policy, merge == .row {
        throw DatasetError(
          place, "whole rows win or lose, so that no column can be a \(how.rawValue)",
          hint: "Leave out \"merge\": \"row\".")
      }
      policies[Name(column.name)] = policy
    }
    return policies
  }

  private static func attachments(_ members: Members) throws(DatasetError) -> [Name] {
    guard let value = members["attachments"] else { return [] }
    let place = members.place("attachments")
    let names = (value.arrayValue ?? []).compactMap(\.stringValue).map { Name($0) }
    guard let list = value.arrayValue, names.count == list.count else {
      throw DatasetError(place, "it must be a list of columns that name files, [\"photo\"]")
    }
    guard Set(names).count == names.count else { throw DatasetError(place, "a column occurs twice") }
    return names
  }

  private static func delete(_ members: Members) throws(DatasetError) -> DeleteRule {
    let column = try members.optionalString("deleted")
    switch (try members.optionalString("delete"), column) {
    case (nil, nil), ("hard", nil): return .hard
    case ("never", nil): return .never
    case ("soft", let column?): return .soft(Name(column))
    case ("soft", nil):
      throw DatasetError(
        members.place("delete"), "which column says that a row was deleted?", hint: "Name it: \"deleted\": \"COLUMN\"")
    case (_, .some): throw DatasetError(members.place("deleted"), "it has a meaning only with \"delete\": \"soft\"")
    case (let word?, nil): throw DatasetError(members.place("delete"), "\"\(word)\" is not hard, soft, never")
    }
  }

  /// Reads the rule for units: `"transaction"`, `"parent"`, or `{ "parent": "orders" }` for a table with several
  /// parents.
  private static func unit(_ members: Members) throws(DatasetError) -> UnitRule? {
    switch members["unit"] {
    case nil: return nil
    case .string("transaction"): return .transaction
    case .string("parent"): return .parent(nil)
    case let value?:
      let place = members.place("unit")
      guard value.objectValue != nil else {
        throw DatasetError(place, "it is \"transaction\", \"parent\" or { \"parent\": \"TABLE\" }")
      }
      return .parent(Name(try Members(value, at: place, known: ["parent"]).string("parent")))
    }
  }

  private static func block(_ members: Members, _ keys: KeyRule) throws(DatasetError) -> Int64 {
    if members["block"] == nil { return defaultBlock }
    guard keys == .blocks else {
      throw DatasetError(members.place("block"), "it has a meaning only with \"keys\": \"blocks\"")
    }
    let size = try members.integer("block")
    guard (10...1_000_000_000).contains(size) else {
      throw DatasetError(members.place("block"), "it must be a whole number from 10 to 1000000000")
    }
    return size
  }

  private static func priority(_ members: Members) throws(DatasetError) -> Int64 {
    if members["priority"] == nil { return firstPriority }
    let priority = try members.integer("priority")
    guard (firstPriority...lastPriority).contains(priority) else {
      throw DatasetError(
        members.place("priority"), "it must be a whole number from \(firstPriority) to \(lastPriority)")
    }
    return priority
  }
}

private func isParameterName(_ name: String) -> Bool {
  guard let first = name.utf8.first, (97...122).contains(first | 0x20) else { return false }
  return name.utf8.allSatisfy { (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == 95 }
}
