/// Everything at the hub that the attacker's user may not change, as text. This includes rows, rights, keys, states,
/// conflicts, and files of other users.
struct Protected: Equatable {
  let parts: [String: [String]]

  private static let queries = [
    "prices": "SELECT * FROM prices ORDER BY id",
    "notes": "SELECT * FROM notes WHERE author <> 'ann' ORDER BY id",
    "replies":
      "SELECT replies.* FROM replies JOIN notes ON notes.id = note WHERE author <> 'ann' AND pub <> 1 ORDER BY 1",
    "tasks": "SELECT * FROM tasks WHERE owner <> 'ann' ORDER BY id",
    "visits": "SELECT * FROM visits WHERE owner <> 'ann' ORDER BY id",
    "trips": "SELECT * FROM trips WHERE owner <> 'ann' ORDER BY id",
    "kinds": "SELECT * FROM kinds WHERE owner <> 'ann' ORDER BY id",
    "trees": "SELECT * FROM trees WHERE owner <> 'ann' ORDER BY uuid",
    "authors": "SELECT DISTINCT user FROM satchel_log ORDER BY user",
    "log": "SELECT count(*) FROM satchel_log WHERE device IS NOT (SELECT id FROM satchel_devices WHERE name = 'evil')",
    "users": "SELECT * FROM satchel_users ORDER BY name",
    "operators": "SELECT * FROM satchel_operators ORDER BY name",
    "acts": "SELECT * FROM satchel_acts ORDER BY number",
    "devices": """
    SELECT id, name, user, key, next_key, recipient, continues, revoked_from, expires, read_only, incarnation, state,
      merged, proved, emitted, asked
    FROM satchel_devices WHERE name <> 'evil' ORDER BY id
    """,
    "attacker": """
    SELECT id, name, user, continues, revoked_from, expires, read_only, incarnation, emitted, asked,
      CASE state WHEN 'revoked' THEN 'revoked' END
    FROM satchel_devices WHERE name = 'evil'
    """,
    "revoked": "SELECT key FROM satchel_revoked ORDER BY key",
    "former keys": "SELECT * FROM satchel_former_keys ORDER BY key",
    "former users": "SELECT device, user FROM satchel_former_users ORDER BY 1, 2",
    "hub": "SELECT id, name, epoch, emissions_from, recovering, key_lost, definition, revocations FROM satchel_hub",
    "epochs": "SELECT * FROM satchel_epochs ORDER BY epoch",
    "set back": "SELECT count(*) FROM satchel_set_back",
    "branches": "SELECT * FROM satchel_branches ORDER BY id",
    "blocks":
      "SELECT * FROM satchel_blocks WHERE device <> (SELECT id FROM satchel_hub) ORDER BY table_name, first_key",
    "conflicts": """
    SELECT * FROM satchel_conflicts
    WHERE device <> (SELECT id FROM satchel_devices WHERE name = 'evil') OR user <> 'ann' OR decided_by <> 'ann'
    ORDER BY id
    """,
    "waiting reports": """
    SELECT id FROM satchel_conflicts WHERE state = 'held' AND id IN (SELECT conflict FROM satchel_reports WHERE found = 0)
    """,
    "keys at their end": """
    SELECT 'tasks' FROM tasks WHERE id > 9007199254740991
    UNION SELECT 'visits' FROM visits WHERE id > 10000000
    UNION SELECT 'kinds' FROM kinds WHERE id > 9007199254740991
    UNION SELECT 'trees' FROM trees WHERE fid > 9007199254740991
    UNION SELECT name FROM sqlite_sequence WHERE seq > 10000000
    """,
    "chain": """
    SELECT * FROM satchel_chain WHERE device <> (SELECT id FROM satchel_devices WHERE name = 'evil') ORDER BY 1, 2
    """,
    "emissions": """
    SELECT * FROM satchel_emissions WHERE device <> (SELECT id FROM satchel_devices WHERE name = 'evil') ORDER BY 1, 2
    """,
    "proofs": """
    SELECT * FROM satchel_proofs WHERE device <> (SELECT id FROM satchel_devices WHERE name = 'evil') ORDER BY 1
    """,
    "owed": """
    SELECT * FROM satchel_owed WHERE device <> (SELECT id FROM satchel_devices WHERE name = 'evil') ORDER BY 1, 2, 3
    """,
  ]

  /// The rows that ann may change. A bundle without changes and decisions must not change these rows either.
  private static let own = [
    "own notes": "SELECT * FROM notes WHERE author = 'ann' ORDER BY id",
    "all replies": "SELECT * FROM replies ORDER BY id",
    "own tasks": "SELECT * FROM tasks WHERE owner = 'ann' ORDER BY id",
    "own visits": "SELECT * FROM visits WHERE owner = 'ann' ORDER BY id",
    "own trips": "SELECT * FROM trips WHERE owner = 'ann' ORDER BY id",
    "own kinds": "SELECT * FROM kinds WHERE owner = 'ann' ORDER BY id",
    "own trees": "SELECT * FROM trees WHERE owner = 'ann' ORDER BY uuid",
  ]

  init(_ lab: AttackFixture, withOwn: Bool = false) throws {
    var parts = try lab.atHub(Self.queries)
    if withOwn { parts.merge(try lab.atHub(Self.own)) { _, all in all } }
    let own = Set(try lab.atHub(Self.ownFiles))
    for (path, digest) in try lab.digests(below: lab.hub.folder.attached) where !own.contains(path) {
      parts["file \(path)"] = [digest]
    }
    parts["their missing file"] = [try lab.hubFile(AttackFixture.missing) ?? "missing"]
    self.parts = parts
  }

  /// The paths at which the hub keeps the attacker's files. If another user's file was at such a path, it was replaced.
  private static let ownFiles = """
    SELECT kept FROM satchel_received WHERE device = (SELECT id FROM satchel_devices WHERE name = 'evil')
    """

  /// The protected parts that differ in `later`.
  func differences(to later: Protected) -> [String] {
    parts.keys.sorted().filter { parts[$0] != later.parts[$0] && !isOnlyAnn($0, later) }.map {
      "\($0): \(parts[$0] ?? []) became \(later.parts[$0] ?? [])"
    }
  }

  /// After a person decided conflicts at the hub: the changed rows that ann may not change.
  func changedRows(in later: Protected) -> [String] {
    let tables: Set = ["prices", "notes", "replies", "tasks", "visits", "trips", "kinds", "trees"]
    return differences(to: later).filter { tables.contains(String($0.prefix { $0 != ":" })) }
  }

  /// Whether the only difference is that ann is now among the authors. This is no fault.
  private func isOnlyAnn(_ name: String, _ later: Protected) -> Bool {
    name == "authors" && Set(later.parts[name] ?? []).subtracting(parts[name] ?? []).subtracting(["ann"]).isEmpty
  }
}
