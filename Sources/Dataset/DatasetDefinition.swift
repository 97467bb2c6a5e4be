import SatchelCrypto
import SatchelValues

/// The set of tables that are kept in step, with their rules; defined once at the hub and carried to the devices.
public struct DatasetDefinition: Sendable {
  public let name: String
  public let version: Int64
  public let snapshot: SnapshotRule
  public let prove: ProofRule
  /// Whether bundles are encrypted where nobody says otherwise.
  public let encryption: EncryptionRule
  /// Who can open encrypted bundles beside their sender and their recipient.
  public let escrow: [AgeRecipient]
  /// What is known about each user, beside the name; rules use each as a parameter.
  public let attributes: [Attribute]
  /// How much of attached files goes into one bundle.
  public let attachments: AttachmentLimits
  /// In the order of the definition.
  public let tables: [TableRules]
  /// The document that this was read from, byte for byte.
  public let source: [UInt8]

  public func rules(for table: Name) -> TableRules? { tables.first { $0.name == table } }
  public func attribute(_ name: Name) -> Attribute? { attributes.first { $0.name == name } }
}

/// How much of the files that rows name a bundle carries.
public struct AttachmentLimits: Hashable, Sendable {
  /// The size of one; a larger one is not carried at all.
  public let fileBytes: Int64
  /// Of all in one bundle; the others go with the next ones.
  public let bundleBytes: Int64

  /// The same with less in one bundle: what a stick has room for.
  public func atMost(_ bytes: Int64?) -> AttachmentLimits {
    AttachmentLimits(fileBytes: fileBytes, bundleBytes: min(bundleBytes, bytes ?? bundleBytes))
  }

  public static let usual = AttachmentLimits(fileBytes: 100 << 20, bundleBytes: 1 << 30)
  /// What FAT takes.
  public static let mostFileBytes: Int64 = (4 << 30) - 1
  public static let mostBundleBytes: Int64 = 64 << 30
}

/// When a device's bundle carries the device's whole database.
public enum SnapshotRule: Hashable, Sendable {
  case first, always, never
  case every(Int64)

  /// Whether the export with this number carries one.
  public func applies(to sequence: SequenceNumber) -> Bool {
    switch self {
    case .first: sequence.rawValue == 1
    case .always: true
    case .never: false
    case .every(let count): (sequence.rawValue - 1) % count == 0
    }
  }
}

/// When a device's bundle carries digests of its rows, by which the hub checks that both have the same.
public enum ProofRule: Hashable, Sendable {
  case always, never
  case every(Int64)

  public static let usual = ProofRule.every(8)

  /// Whether an export carries them.
  /// - Parameter last: the export that carried them last; nil: none has since the last full bundle.
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

/// One fact that is known about every user.
public struct Attribute: Hashable, Sendable {
  public enum Kind: String, Sendable, CaseIterable { case integer, real, text }

  public let name: Name
  public let kind: Kind

  /// Reads what a person typed as this attribute's value; nil where it does not fit the kind.
  public func value(of text: String) -> Value? {
    switch kind {
    case .integer: Int64(text).map { .integer($0) }
    case .real: Double(text).flatMap { $0.isFinite ? .real($0) : nil }
    case .text: .string(text)
    }
  }
}

/// What a user may change in a table.
public enum WriteRule: Hashable, Sendable {
  /// Everything that the user may see.
  case visible
  case none
  case expression(String)
}

/// Who wins when a device and the hub disagree.
public enum Policy: String, Sendable, CaseIterable {
  case hub, device, newest, manual
}

/// How two values of one column become one in which both sides' parts are.
public enum Combination: String, Sendable, CaseIterable {
  /// A counter: both differences count.
  case sum
  case max, min
  /// JSON arrays as sets.
  case union
}

/// What becomes of a column that both sides changed.
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

/// What a delete by a device means.
public enum DeleteRule: Hashable, Sendable {
  /// The row goes.
  case hard
  /// The row stays, and this column says that it was deleted: anything in it but NULL and 0.
  case soft(Name)
  /// Nobody deletes rows of this table on a device.
  case never
}

/// The rule for a change whose user had the right to make it then, and has lost that right since.
public enum LateRule: String, Sendable, CaseIterable {
  /// A person decides.
  case conflict
  /// The change is taken, if the hub's own records show that right.
  case accept
}

/// With how many of its parents a row is seen.
public enum ParentsMatch: String, Sendable, CaseIterable {
  case all, any
}

/// Whether changes of different columns of one row meet.
public enum MergeGrain: String, Sendable, CaseIterable {
  case column, row
}

/// What becomes of keys that several replicas hand out alike.
public enum KeyRule: String, Sendable, CaseIterable {
  /// A key is a key: two rows with one are a disagreement.
  case asIs = "as-is"
  /// Each replica hands out keys from a range of its own; rows that collide all the same are treated as by `rekey`.
  case blocks
  /// The row that comes later to the hub gets another key, and what refers to it follows.
  case rekey
}

/// What becomes of a row that a device made, where another row has its natural key.
public enum UniqueRule: String, Sendable, CaseIterable {
  /// They are two rows, of which the table's policy lets one in.
  case policy
  /// They are one row that was made twice.
  case fold
}

/// Which changes of a table's rows are taken together or not at all.
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
  /// The column of `table` whose values stand in `column`; nil: the column that is its key.
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
  /// The columns that name a row in the place of its PRIMARY KEY; nil: the PRIMARY KEY does.
  public let key: [Name]?
  /// Tables along whose foreign keys visibility is inherited; nil: every table of the dataset that this one refers to.
  public let parents: [Name]?
  /// References that hold beside the foreign keys of the database, in the order of the definition.
  public let references: [DeclaredReference]
  /// Whether a row that refers to several parents is seen with any of them, or only with all.
  public let parentsMatch: ParentsMatch
  /// An SQL expression; nil: everything that the parents allow.
  public let visible: String?
  public let write: WriteRule
  public let conflict: Policy
  public let merge: MergeGrain
  /// Columns with a policy of their own.
  public let columns: [Name: ColumnPolicy]
  /// Columns that name files below the workspace's `files/`, which travel with the rows.
  public let attachments: [Name]
  public let unique: UniqueRule
  public let delete: DeleteRule
  public let late: LateRule
  public let keys: KeyRule
  /// nil: each change is taken by itself.
  public let unit: UnitRule?
  /// How many keys a replica is given at a time, by `KeyRule.blocks`.
  public let block: Int64

  /// Enough for a season's work, and 2^53 of them are not soon used up.
  public static let defaultBlock: Int64 = 10_000

  public func policy(of column: Name) -> ColumnPolicy { columns[column] ?? .winner(conflict) }
}
