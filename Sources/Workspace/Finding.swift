import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// A fault in a workspace.
public struct Finding: Sendable {
  public let code: Reason
  public let message: String
  /// The advice for a person; nil if `doctor --repair` repairs the fault.
  public let hint: String?

  public init(_ code: Reason, _ message: String, hint: String? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
  }

  /// A stable word for programs.
  public var reason: String { code.rawValue }

  public init(_ error: any ExplainedError) {
    self.init(error.code, error.message, hint: error.hint ?? "Bring it back from a backup.")
  }
}

/// The findings of `doctor` in a workspace, and its repairs.
public struct DoctorReport: Sendable {
  /// Changes of one table that no trigger of capture recorded.
  public struct Unseen: Sendable {
    public let table: Name
    public var inserted = 0
    public var updated = 0
    public var deleted = 0

    public var total: Int { inserted + updated + deleted }

    public init(_ table: Name, _ changes: [UnseenChange]) {
      self.table = table
      for change in changes where change.table == table {
        switch change.change {
        case .insert: inserted += 1
        case .update: updated += 1
        case .delete: deleted += 1
        case nil: continue
        }
      }
    }
  }

  public var findings: [Finding] = []
  /// Tables with changes that no trigger of capture recorded.
  public var unseen: [Unseen] = []
  /// Tables that were created again, alone or with the whole database file. `count` is the number of known rows that
  /// were missing in the table and were inserted again.
  public var restored: [(table: Name, count: Int)] = []
  /// Whether everything that can be repaired was repaired.
  public var isRepaired = false
  /// Whether a migration of the app may have changed this hub's tables. If so, the operator records the migration
  /// instead of a repair.
  public var mayBeMigrated = false
  /// Whether tables of this device have other columns than before. If so, `doctor` can create the tables again as the
  /// hub has them.
  public var hasOtherColumns = false

  public init() {}

  /// Whether a person and `doctor` have nothing more to do.
  public var isWell: Bool { findings.allSatisfy { isRepaired && $0.hint == nil } && (isRepaired || unseen.isEmpty) }

  /// Whether `doctor` found no fault, not even a fault that it repaired.
  public var hasFoundNothing: Bool { findings.isEmpty && unseen.isEmpty && restored.isEmpty }

  /// Adds a finding, unless the report has a finding with the same message.
  public mutating func add(_ finding: Finding) {
    if findings.contains(where: { Name($0.message) == Name(finding.message) }) { return }
    findings.append(finding)
  }

  public mutating func add(_ changes: [UnseenChange], of tables: [TrackedTable]) {
    unseen += tables.map { Unseen($0.name, changes) }.filter { $0.total > 0 }
  }
}

/// The checks of `doctor` in every workspace.
extension DoctorReport {
  /// Checks the folder: remains of killed commands, missing folders, and files that other users can read.
  public mutating func check(_ folder: WorkspaceFolder, _ keys: WorkspaceKeys, platform: Platform) throws {
    for path in try folder.leftovers(platform.files) {
      add(Finding(.leftover, "\(path) was left behind by a command that was killed."))
    }
    for path in try folder.missingFolders(platform.files) {
      add(Finding(.noFolder, "The folder \(path) is missing."))
    }
    if try folder.isOpen(platform.files) {
      add(
        Finding(
          .openFolder, "Other users can read \(folder.path("bundles")), but not the database.",
          hint: "Its owner runs: chmod -R go= \(folder.path("bundles"))"))
    }
    do { try keys.check() } catch let error as WorkspaceError { add(Finding(error)) }
  }

  /// Adds findings for changes that another program made to the database.
  public mutating func add(_ damage: [CaptureDamage]) {
    for damage in damage {
      add(Finding(damage.code, "Another program changed the database: \(damage.words).", hint: damage.hint))
    }
  }

  /// Adds the faults that SQLite's integrity check finds in the file.
  public mutating func checkFile(_ database: borrowing Database, at path: String, of role: Role) throws {
    for fault in try database.integrityFaults() { add(Self.broken(path, fault, of: role)) }
  }

  /// Adds a finding if a trigger of the app would make every import into these tables fail.
  public mutating func checkTriggers(of tables: [TrackedTable], in database: borrowing Database) throws {
    guard let fault = try database.fatalTriggerFault(of: tables.map(\.name)) else { return }
    add(Finding(.trigger, fault.message, hint: fault.hint))
  }

  /// Adds a finding for each of these tables that has references to missing rows.
  public mutating func checkReferences(among tables: [TrackedTable], in database: borrowing Database) throws {
    let faults = Dictionary(uniqueKeysWithValues: try database.foreignKeyFaults(among: tables.map(\.name)))
    for table in tables {
      let count = try (faults[table.name] ?? 0) + table.danglingReferences(in: database)
      if count == 0 { continue }
      add(
        Finding(
          .foreignKeys, "\(count) of the references of \(table.name) lead to a row that is not there.",
          hint: "Nothing is lost by it. Bring those rows, or let the app mend it; some tools refuse such a file."))
    }
  }

  /// The finding for a file in which SQLite's check finds a fault.
  public static func broken(_ path: String, _ words: String, of role: Role) -> Finding {
    // SQLite names the index in its message if only an index is damaged. All rows are whole then.
    let indexes =
      words.hasPart("index") ? " Try this first: sqlite3 \(path) REINDEX. It makes damaged indexes again." : ""
    let whole =
      role == .hub
      ? "Bring the hub back from its last backup: satchel-hub restore."
      : "Run satchel export, and move the file away. Then satchel doctor --repair builds it again."
    // `.recover` does not work in the sqlite3 of Debian 12.
    let rest = "sqlite3 can often read most of a damaged file (.dump, or .recover if your sqlite3 has it)."
    return Finding(
      .corrupt, "The database \(path) is damaged: \(words).",
      hint: "Close the app, and keep a copy of the file.\(indexes) \(whole) \(rest)")
  }
}

extension DoctorReport {
  /// Adds what is wrong with a database before a repair. Throws a `WorkspaceError` if a person must correct something
  /// first.
  public mutating func admit(
    _ database: borrowing Database, at path: String, _ damage: [CaptureDamage], of role: Role
  ) throws {
    add(damage)
    if let lasting = damage.first(where: { !$0.isRepairable }) {
      throw WorkspaceError.damaged(lasting, tool: role.tool)
    }
    try checkFile(database, at: path, of: role)
    if let broken = findings.first(where: { $0.reason == "corrupt" }) {
      throw WorkspaceError(broken.code, broken.message, hint: broken.hint)
    }
  }
}
