import SatchelPlatform

/// All tables and files of the hub that a refused bundle must not change. The ledger and the quarantine are left out,
/// because they record the refusal.
struct HubContent {
  private let tables: [String: [String]]
  /// The digests of the hub's files, by their paths in the hub's folder.
  private let files: [String: String]

  init(_ lab: AttackFixture) throws {
    var tables = try lab.hubTables()
    tables["accepted bundles"] = try lab.atHub("SELECT * FROM satchel_ledger WHERE verdict <> 'refused' ORDER BY entry")
    self.tables = tables
    let folder = lab.hub.folder
    let databases = ["", "-wal", "-shm", "-journal"].map { "data.sqlite\($0)" }
    let own = try lab.digests(below: folder.root, but: Set([Paths.name(of: folder.lock), "bundles"] + databases))
    let bundles = try lab.digests(
      below: folder.path("bundles"), but: [Paths.name(of: folder.quarantine)])
    files = own.merging(bundles) { $1 }
  }

  /// The tables and files that differ in `later`.
  func differences(to later: HubContent) -> [String] {
    let names = Set(tables.keys).union(later.tables.keys).filter { tables[$0] != later.tables[$0] }
    let paths = Set(files.keys).union(later.files.keys).filter { files[$0] != later.files[$0] }
    return names.sorted().map { "\($0): \(tables[$0] ?? []) became \(later.tables[$0] ?? [])" } + paths.sorted()
  }
}
