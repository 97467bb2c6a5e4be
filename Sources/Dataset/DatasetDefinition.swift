import SatchelCrypto
import SatchelValues

/// The tables that are kept in step, with their rules. The definition is made once at the hub, and bundles carry it
/// to the devices.
public struct DatasetDefinition: Sendable {
  public let name: String
  public let version: Int64
  public let snapshot: SnapshotRule
  public let prove: ProofRule
  /// The number of days for which the hub keeps each change of a row. nil: it keeps only the changes that a device
  /// still needs.
  public let historyDays: Int64?
  /// The brake for tables that have no limits of their own.
  public let brake: Brake
  /// The rule for rows that name no parent, in tables without a rule of their own. nil if the definition has no such
  /// rule; then these rows are visible.
  public let orphans: OrphanRule?
  /// Whether bundles are encrypted if a command does not say otherwise.
  public let encryption: EncryptionRule
  /// Additional recipients who can decrypt every encrypted bundle.
  public let escrow: [AgeRecipient]
  /// The data that the hub has about each user besides the name. The rules use them as parameters.
  public let attributes: [Attribute]
  /// The most bytes of one attached file, and of all attached files in one bundle.
  public let attachments: AttachmentLimits
  /// The rules of the tables, in the order of the definition.
  public let tables: [TableRules]
  /// The document of this definition, byte for byte.
  public let source: [UInt8]

  public func rules(for table: Name) -> TableRules? { tables.first { $0.name == table } }
  public func attribute(_ name: Name) -> Attribute? { attributes.first { $0.name == name } }
}

/// Limits on the attached files of a bundle.
public struct AttachmentLimits: Hashable, Sendable {
  /// The most bytes of one file. A larger file is never carried.
  public let fileBytes: Int64
  /// The most bytes of all files in one bundle. Further files go with later bundles.
  public let bundleBytes: Int64

  /// The same limits, with a lower limit for one bundle if `bytes` is lower, for example the room on a stick.
  public func atMost(_ bytes: Int64?) -> AttachmentLimits {
    AttachmentLimits(fileBytes: fileBytes, bundleBytes: min(bundleBytes, bytes ?? bundleBytes))
  }

  public static let usual = AttachmentLimits(fileBytes: 100 << 20, bundleBytes: 1 << 30)
  /// The most bytes of one file on a FAT file system.
  public static let mostFileBytes: Int64 = (4 << 30) - 1
  public static let mostBundleBytes: Int64 = 64 << 30
}

/// Which exports of a device carry its whole database.
public enum SnapshotRule: Hashable, Sendable {
  case first, always, never
  case every(Int64)

  /// Whether the export with this number carries the database.
  public func applies(to sequence: SequenceNumber) -> Bool {
    switch self {
    case .first: sequence.rawValue == 1
    case .always: true
    case .never: false
    case .every(let count): (sequence.rawValue - 1) % count == 0
    }
  }
}

/// Which exports of a device carry digests of its rows. The hub compares them with the digests of its own rows.
public enum ProofRule: Hashable, Sendable {
  case always, never
  case every(Int64)

  public static let usual = ProofRule.every(8)

  /// Whether an export carries the digests.
  /// - Parameter last: the last export with digests since the last full bundle; nil if there is none.
  public func applies(to sequence: SequenceNumber, after last: SequenceNumber?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .every(let count): last.map { sequence.rawValue - $0.rawValue >= count } ?? true
    }
  }
}

/// Whether bundles are encrypted.
public enum EncryptionRule: String, Sendable, CaseIterable {
  case never, always
}

/// An attribute that each user has.
public struct Attribute: Hashable, Sendable {
  public enum Kind: String, Sendable, CaseIterable { case integer, real, text }

  public let name: Name
  public let kind: Kind

  /// The value of a typed text; nil if the text does not fit the attribute's kind.
  public func value(of text: String) -> Value? {
    switch kind {
    case .integer: Int64(text).map { .integer($0) }
    case .real: Double(text).flatMap { $0.isFinite ? .real($0) : nil }
    case .text: .string(text)
    }
  }
}

/// The rows that a user may change in a table.
public enum WriteRule: Hashable, Sendable {
  /// Every row that the user may see.
  case visible
  case none
  case expression(String)

  /// The SQL expression of the rule; nil if the rule is `visible` or `none`.
  public var expression: String? {
    if case .expression(let rule) = self { rule } else { nil }
  }
}

/// The rule that decides who wins a disagreement.
public enum Policy: String, Sendable, CaseIterable {
  case hub, device, newest, manual
}

/// The rule by which the values of both sides become one value.
public enum Combination: String, Sendable, CaseIterable {
  /// A counter: the differences of both sides are added.
  case sum
  case max, min
  /// JSON arrays as sets.
  case union
}

/// The rule for a column that both sides changed.
public enum ColumnPolicy: Hashable, Sendable {
  case winner(Policy)
  case combination(Combination)

  public init?(_ word: String) {
    if let policy = Policy(rawValue: word) {
      self = .winner(policy)
    } else if let combination = Combination(rawValue: word) {
      self = .combination(combination)
    } else {
      return nil
    }
  }
}

/// The effect of a delete by a device.
public enum DeleteRule: Hashable, Sendable {
  /// The row is removed.
  case hard
  /// The row stays. This column marks the row as deleted if its value is neither NULL nor 0.
  case soft(Name)
  /// A device may not delete rows of this table.
  case never
}

/// The rule for late work: a change whose user had the right to make it, but has lost that right since.
public enum LateRule: String, Sendable, CaseIterable {
  /// A person decides.
  case conflict
  /// The hub takes the change if its own records show that the user had the right.
  case accept
}

/// Whether a row with several parents needs one visible parent or all of them.
public enum ParentsMatch: String, Sendable, CaseIterable {
  case all, any
}

/// The users who see rows that name no parent, in a table that inherits visibility from parents.
public enum OrphanRule: String, Sendable, CaseIterable {
  /// No user.
  case hidden
  /// Every user who sees the row by the table's own rule.
  case visible
}

/// Whether changes of different columns of one row can be merged (`column`), or disagree (`row`).
public enum MergeGrain: String, Sendable, CaseIterable {
  case column, row
}

/// The rule for new rows that get the same key on several replicas.
public enum KeyRule: String, Sendable, CaseIterable {
  /// Keys never change. Two rows with the same key disagree.
  case asIs = "as-is"
  /// Each replica takes the keys of new rows from ranges of its own. If two rows still have the same key, the rule is
  /// `rekey`.
  case blocks
  /// The row that reaches the hub later gets another key. References to this row follow.
  case rekey
}

/// The rule for a device's new row with a natural key that another row has.
public enum UniqueRule: String, Sendable, CaseIterable {
  /// They are two different rows. The table's policy decides which of them stays in the table.
  case policy
  /// They are the same row, made twice. Both become one row.
  case fold
}

/// The changes that the hub takes together or not at all.
public enum UnitRule: Hashable, Sendable {
  /// All rows that one transaction wrote in tables with this rule.
  case transaction
  /// A parent row and its children. The value is the parent's table; nil if the rule does not name it.
  case parent(Name?)
}

/// A reference to another table that the dataset declares and the database does not.
public struct DeclaredReference: Hashable, Sendable {
  public let column: Name
  public let table: Name
  /// The column of `table` to which the reference refers; nil means the key of `table`.
  public let parentColumn: Name?

  public init(column: Name, table: Name, parentColumn: Name? = nil) {
    self.column = column
    self.table = table
    self.parentColumn = parentColumn
  }
}

/// The rules of one table.
public struct TableRules: Sendable {
  public let name: Name
  /// The columns that identify a row; nil if the PRIMARY KEY does.
  public let key: [Name]?
  /// The tables from which rows inherit visibility, along the foreign keys. nil means all tables of the dataset to
  /// which this table refers.
  public let parents: [Name]?
  /// References in addition to the foreign keys of the database, in the order of the definition.
  public let references: [DeclaredReference]
  /// Whether a row with several parents needs one visible parent or all of them.
  public let parentsMatch: ParentsMatch
  /// The users who see rows that name no parent.
  public let orphans: OrphanRule
  /// The SQL expression that says which rows a user sees. nil: the user sees all rows that the parents allow.
  public let visible: String?
  public let write: WriteRule
  public let conflict: Policy
  public let merge: MergeGrain
  /// The columns that have a policy of their own.
  public let columns: [Name: ColumnPolicy]
  /// The column by whose values people recognise the rows; nil if people know the keys.
  public let label: Name?
  /// The columns that name attachments.
  public let attachments: [Name]
  public let unique: UniqueRule
  public let delete: DeleteRule
  public let late: LateRule
  public let keys: KeyRule
  /// The rule for units; nil if each change is taken by itself.
  public let unit: UnitRule?
  /// The limits for what one bundle may delete or change.
  public let brake: Brake
  /// The number of keys in a range, if the rule is `KeyRule.blocks`.
  public let block: Int64
  /// How urgent new rows are for a bundle that must be small. Rows of the first priority are always in the bundle.
  public let priority: Int64
  public static let firstPriority: Int64 = 1
  static let lastPriority: Int64 = 9

  /// A range of this size is enough for the work of a season, and 2^53 keys are enough for very many such ranges.
  public static let defaultBlock: Int64 = 10_000

  public func policy(of column: Name) -> ColumnPolicy { columns[column] ?? .winner(conflict) }
}
