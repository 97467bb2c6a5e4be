import SatchelCrypto
import SatchelValues

/// The set of tables that are kept in step, with their rules; defined once at the hub and carried to the devices.
public struct DatasetDefinition: Sendable {
  public let name: String
  public let version: Int64
  public let snapshot: SnapshotRule
  public let prove: ProofRule
  /// The days for which the hub keeps each change of a row. nil: it keeps only the changes that a device needs.
  public let historyDays: Int64?
  /// The limits for the changes of one bundle, in tables without their own.
  public let brake: Brake
  /// Who sees rows that name no parent, in tables without their own rule. nil: the definition does not say it, and
  /// such rows are visible.
  public let orphans: OrphanRule?
  /// Whether bundles are encrypted unless a command says otherwise.
  public let encryption: EncryptionRule
  /// Recipients who can open every encrypted bundle, in addition to its sender and its recipient.
  public let escrow: [AgeRecipient]
  /// Data about each user, in addition to the name. Rules use these data as parameters.
  public let attributes: [Attribute]
  /// The most bytes of one attached file, and of all attached files in one bundle.
  public let attachments: AttachmentLimits
  /// The rules of the tables, in the order of the definition.
  public let tables: [TableRules]
  /// The document from which this was read, byte for byte.
  public let source: [UInt8]

  public func rules(for table: Name) -> TableRules? { tables.first { $0.name == table } }
  public func attribute(_ name: Name) -> Attribute? { attributes.first { $0.name == name } }
}

/// Limits on the attached files of a bundle.
public struct AttachmentLimits: Hashable, Sendable {
  /// The most bytes of one file. A larger file is never carried.
  public let fileBytes: Int64
  /// The most bytes of all files in one bundle. The other files go with the next bundles.
  public let bundleBytes: Int64

  /// Returns these limits with a lower limit for one bundle, such as the room on a stick.
  public func atMost(_ bytes: Int64?) -> AttachmentLimits {
    AttachmentLimits(fileBytes: fileBytes, bundleBytes: min(bundleBytes, bytes ?? bundleBytes))
  }

  public static let usual = AttachmentLimits(fileBytes: 100 << 20, bundleBytes: 1 << 30)
  /// The most bytes of one file on a FAT file system.
  public static let mostFileBytes: Int64 = (4 << 30) - 1
  public static let mostBundleBytes: Int64 = 64 << 30
}

/// When a device's bundle carries the device's whole database.
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

/// When a device's bundle carries digests of its rows. The hub compares them with its own.
public enum ProofRule: Hashable, Sendable {
  case always, never
  case every(Int64)

  public static let usual = ProofRule.every(8)

  /// Whether an export carries the digests.
  /// - Parameter last: the last export that carried the digests; nil: no export since the last full bundle did.
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

/// One datum about every user.
public struct Attribute: Hashable, Sendable {
  public enum Kind: String, Sendable, CaseIterable { case integer, real, text }

  public let name: Name
  public let kind: Kind

  /// Converts a typed text to this attribute's value; nil if it does not fit the kind.
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

  /// The SQL expression of the rule; nil: the rule is `visible` or `none`.
  public var expression: String? {
    if case .expression(let rule) = self { rule } else { nil }
  }
}

/// The winner when a device and the hub disagree.
public enum Policy: String, Sendable, CaseIterable {
  case hub, device, newest, manual
}

/// How two values of one column become one value with both sides' changes.
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

/// The meaning of a device's delete.
public enum DeleteRule: Hashable, Sendable {
  /// The row is removed.
  case hard
  /// The row stays. This column marks the row as deleted if its value is neither NULL nor 0.
  case soft(Name)
  /// Rows of this table cannot be deleted on a device.
  case never
}

/// The rule for a change that its user had the right to make, if the user has lost this right since.
public enum LateRule: String, Sendable, CaseIterable {
  /// A person decides.
  case conflict
  /// The change is applied if the hub's own records show that the user had the right.
  case accept
}

/// Whether a row is visible with any of its parents, or only with all of them.
public enum ParentsMatch: String, Sendable, CaseIterable {
  case all, any
}

/// Who sees rows that name no parent, in a table whose rows inherit visibility from parents.
public enum OrphanRule: String, Sendable, CaseIterable {
  /// No user.
  case hidden
  /// Every user whom the table's own rule lets see them.
  case visible
}

/// Whether changes of different columns of one row collide.
public enum MergeGrain: String, Sendable, CaseIterable {
  case column, row
}

/// The rule for keys that several replicas gave to different rows.
public enum KeyRule: String, Sendable, CaseIterable {
  /// Keys never change: two rows with one key are a disagreement.
  case asIs = "as-is"
  /// Each replica takes new keys from its own range. If two rows have the same key nevertheless, they are treated as by
  /// `rekey`.
  case blocks
  /// The row that reaches the hub later gets another key, and references to it follow.
  case rekey
}

/// The rule for a new row of a device if another row has its natural key.
public enum UniqueRule: String, Sendable, CaseIterable {
  /// They are two rows. The table's policy decides which row enters the table.
  case policy
  /// They are one row that was made twice.
  case fold
}

/// The changes that are applied together or not at all.
public enum UnitRule: Hashable, Sendable {
  /// All rows that one transaction wrote in tables with this rule.
  case transaction
  /// A parent row and its children. The parent's table is nil if the table has only one.
  case parent(Name?)
}

/// A column that refers to rows of another table, although the database does not declare it.
public struct DeclaredReference: Hashable, Sendable {
  public let column: Name
  public let table: Name
  /// The column of `table` whose values are in `column`; nil: the key column of `table`.
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
  /// The columns that identify a row instead of its PRIMARY KEY; nil: the PRIMARY KEY does.
  public let key: [Name]?
  /// The tables from which rows inherit visibility, along the foreign keys; nil: every table of the dataset to which
  /// this table refers.
  public let parents: [Name]?
  /// References in addition to the foreign keys of the database, in the order of the definition.
  public let references: [DeclaredReference]
  /// Whether a row with several parents is visible with any of them, or only with all.
  public let parentsMatch: ParentsMatch
  /// Who sees rows that name no parent.
  public let orphans: OrphanRule
  /// The SQL expression for visible rows; nil: every row that the parents allow is visible.
  public let visible: String?
  public let write: WriteRule
  public let conflict: Policy
  public let merge: MergeGrain
  /// Columns with their own policy.
  public let columns: [Name: ColumnPolicy]
  /// The column by whose values people recognise rows. nil: they know the keys.
  public let label: Name?
  /// Columns that name files below the workspace's `files/`, which travel with the rows.
  public let attachments: [Name]
  public let unique: UniqueRule
  public let delete: DeleteRule
  public let late: LateRule
  public let keys: KeyRule
  /// nil: each change is applied by itself.
  public let unit: UnitRule?
  /// The limits for the changes of one bundle.
  public let brake: Brake
  /// The number of keys in a range, if the rule is `KeyRule.blocks`.
  public let block: Int64
  /// How urgent new rows are in a bundle that must be small. The first priority is the most urgent: its rows always go.
  public let priority: Int64
  public static let firstPriority: Int64 = 1
  static let lastPriority: Int64 = 9

  /// These are enough keys for the work of a season, and 2^53 keys are enough for very many ranges.
  public static let defaultBlock: Int64 = 10_000

  public func policy(of column: Name) -> ColumnPolicy { columns[column] ?? .winner(conflict) }
}
