import SatchelConflicts
import SatchelRows
import SatchelWorkspace

/// Satchel's own tables in a device's database, except the tables of capture.
enum DeviceSchema {
  static let all = [
    state, RevokedKeyTable.schema, ExportTable.schema, FormerEpochTable.schema, BroughtEmissionTable.schema,
    EstrangementTable.schema, ResolutionTable.schema, ExportedRowTable.schema, RenumberedTable.schema,
    AttachmentList.schema, AttachmentList.received, BlockTable.schema, ConflictTable.schema, Ledger.schema,
    VersionTable.schema, NewValueTable.schema, NamedEmissionTable.schema,
  ]

  static let state = """
    CREATE TABLE satchel_device (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      id TEXT NOT NULL,
      name TEXT NOT NULL,
      user TEXT NOT NULL,
      hub_id TEXT NOT NULL,
      hub_name TEXT NOT NULL,
      epoch TEXT NOT NULL,            -- of the hub's history
      incarnation TEXT NOT NULL,      -- of this device's folder
      sequence INTEGER NOT NULL,      -- of the last export
      acknowledged INTEGER NOT NULL,  -- the highest sequence that the hub is known to have merged
      restored INTEGER,               -- the last export that a restored hub has, if it lacks later ones; else NULL
      received INTEGER NOT NULL,      -- the emission that this database has
      heard INTEGER NOT NULL,         -- when it was imported: milliseconds since 1970
      definition TEXT NOT NULL,       -- the dataset's definition
      hub_recipient TEXT,             -- for whom bundles for the hub are encrypted
      told_key INTEGER,               -- the first export that announced this device's next key; NULL: none yet
      revocations INTEGER NOT NULL,   -- the number of the list of revoked keys; 0: none
      unwiped INTEGER NOT NULL,       -- 1: bytes of rows that are gone may be in the file still
      received_digest TEXT,           -- of the B2SUMS of the emission that this database has
      received_signature TEXT,        -- the hub's signature of it
      sealed INTEGER,                 -- the newest export that later ones do not contain; NULL: there is none
      hub_understands TEXT NOT NULL DEFAULT '', -- the critical features that the hub can read
      last_proof INTEGER,             -- the last export with digests of the rows; NULL: none since a full bundle
      must_prove INTEGER NOT NULL DEFAULT 0,    -- 1: the next export carries them, as a person requested
      compare TEXT NOT NULL DEFAULT '[]',       -- JSON: the sums whose rows the hub requests one by one
      former_exports INTEGER,         -- the last export in an earlier epoch; 0: none; NULL: unknown
      backed_up INTEGER               -- the highest sequence that the hub's last backup has; 0: none; NULL: unknown
    )
    """
}
