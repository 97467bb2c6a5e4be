import SatchelBundle
import SatchelDataset
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// Translates a device's bundle from its version of the dataset to the hub's version, which may be later.
struct SchemaTranslation {
  let version: Int64
  private let former: FormerColumns
  /// Whether no column was renamed or removed since the bundle's version.
  let isPresent: Bool
  /// The columns that an app on the device renamed. The names are those in the bundle.
  let renamed: [Manifest.Changes.RenamedColumn]
  /// The tables that left the dataset after the bundle's version, each with the last version that had the table.
  private let departed: [Name: Int64]
  /// The removed columns, as `table.column`, for which the bundle has values.
  private(set) var leftOut: Set<Name> = []

  init(of manifest: Manifest, _ store: HubStore) throws {
    version = manifest.version
    renamed = if case .changes(let changes) = manifest.body { changes.renamed } else { [] }
    former = try VersionTable.columns(in: store.database)
    isPresent = former.areSame(since: version)
    var departed: [Name: Int64] = [:]
    for past in try VersionTable.definitions(in: store.database)
    where past.version >= manifest.version && past.version < store.dataset.version {
      for table in try DatasetDefinition(json: past.source).tables where store.place(of: table.name) == nil {
        departed[table.name] = past.version
      }
    }
    self.departed = departed
  }

  /// Returns the version in which a table left the dataset. nil if the table did not leave after the bundle's version.
  func departure(of table: Name) -> Int64? { departed[table].map { $0 + 1 } }

  private func present(_ fields: [Field], of table: Name) -> [Field] {
    fields.compactMap { field in former.current(field.name, of: table, since: version).map { Field($0, field.value) } }
  }

  /// Returns the line with the present names of its columns, without removed columns.
  func present(_ line: ChangeLine) -> ChangeLine {
    let content: ChangeLine.Content =
      switch line.content {
      case .insert(let fields): .insert(present(fields, of: line.table))
      case .update(let set, let was): .update(set: present(set, of: line.table), was: present(was, of: line.table))
      case .delete(let was): .delete(was: present(was, of: line.table))
      case .row, .gone, .rekey, .block: line.content
      }
    return line.with(content: content)
  }

  func present(_ record: ConflictRecord) -> ConflictRecord {
    if isPresent { return record }
    var record = record
    record.baseValues = record.baseValues.map { present($0, of: record.table) }
    record.hubValues = record.hubValues.map { present($0, of: record.table) }
    record.deviceValues = record.deviceValues.map { present($0, of: record.table) }
    record.winners = record.winners.compactMap { winner in
      former.current(winner.name, of: record.table, since: version).map { ColumnWinner($0, winner.winner) }
    }
    return record
  }

  /// Whether a line still has a change when the removed columns are left out. Adds these columns to `leftOut`.
  mutating func hasMeaning(in line: ChangeLine) -> Bool {
    if isPresent { return true }
    let fields: [Field] =
      switch line.content {
      case .insert(let fields): fields.filter { !$0.value.isNull }
      case .update(let set, _): set
      case .delete, .row, .gone, .rekey, .block: []
      }
    let gone = fields.filter { former.current($0.name, of: line.table, since: version) == nil }
    leftOut.formUnion(gone.map { Name("\(line.table).\($0.name)") })
    if case .update = line.content { return gone.count < fields.count }
    return true
  }
}
