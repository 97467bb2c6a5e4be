import SatchelConflicts
import SatchelRows
import SatchelWorkspace

/// Satchel's own tables in a device's database, beside those of capture.
enum DeviceSchema {
  static let all = [
    state, revoked, exports, formerEpochs, broughtEmissions, estrangement, resolutions, rekeyed, AttachmentList.schema,
    AttachmentList.received, BlockTable.schema,
    ConflictTable.schema, Ledger.schema, VersionTable.schema,
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
      restored INTEGER,               -- the last export that a restored hub has, which lacks later ones; NULL: none lacks any
      received INTEGER NOT NULL,      -- the emission on which this database stands
      heard INTEGER NOT NULL,         -- when it was imported: milliseconds since 1970
      definition TEXT NOT NULL,       -- the dataset's definition
      hub_recipient TEXT,             -- for whom bundles for the hub are encrypted
      told_key INTEGER,               -- the first export that told of this device's next key; NULL: none yet
      revocations INTEGER NOT NULL,   -- the number of the list of revoked keys; 0: none
      unwiped INTEGER NOT NULL,       -- 1: bytes of rows that are gone may be in the file still
      received_digest TEXT,           -- of the B2SUMS of the emission on which this database stands
      received_signature TEXT,        -- the hub's signature of it
      sealed INTEGER,                 -- the newest export that later ones do not contain; NULL: there is none
      hub_understands TEXT NOT NULL DEFAULT '', -- the critical features that the hub can read, as its last bundle said
      last_proof INTEGER,             -- the export that carried digests of the rows last; NULL: none since the last full bundle
      must_prove INTEGER NOT NULL DEFAULT 0,    -- 1: somebody asked that the next export carries them
      compare TEXT NOT NULL DEFAULT '[]'        -- JSON: the sums of which the hub wants the rows one by one
    )
    """

  /// A row for each former epoch of the hub in which this device was.
  static let formerEpochs = "CREATE TABLE satchel_former_epochs (epoch TEXT PRIMARY KEY) WITHOUT ROWID"

  /// A row for each emission of a former epoch that the hub is not known to have. Its file is carried to the hub.
  static let broughtEmissions = """
    CREATE TABLE satchel_brought_emissions (
      digest TEXT PRIMARY KEY, -- of its B2SUMS
      number INTEGER NOT NULL,
      file TEXT NOT NULL       -- its name in the outbox
    ) WITHOUT ROWID
    """

  /// One row while the hub sends bundles of another history than this device's.
  static let estrangement = """
    CREATE TABLE satchel_estrangement (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      at INTEGER NOT NULL,     -- milliseconds since 1970 when it was found
      reason TEXT NOT NULL,    -- other-history, other-hub
      epoch TEXT NOT NULL,     -- of the bundle that was refused
      number INTEGER NOT NULL, -- its number
      file TEXT NOT NULL       -- its name in bundles/inbox/waiting
    )
    """

  /// A row for each revoked key, from the hub's newest list.
  static let revoked = "CREATE TABLE satchel_revoked (key TEXT PRIMARY KEY) WITHOUT ROWID"

  /// A row for each export that was ever begun.
  static let exports = """
    CREATE TABLE satchel_exports (
      sequence INTEGER PRIMARY KEY,
      bundle TEXT NOT NULL,
      digest TEXT NOT NULL,       -- of its B2SUMS
      received INTEGER NOT NULL,  -- the emission on which it stood; 0: it was in an earlier epoch
      created INTEGER NOT NULL,   -- milliseconds since 1970
      file TEXT NOT NULL,         -- its name in the outbox, later in bundles/sent
      written INTEGER NOT NULL,   -- 1: the file is there and safe
      base INTEGER                -- the export since which it holds all changes; NULL: release 0.1 made it
    )
    """

  /// A row for each row of this device that got another key.
  static let rekeyed = """
    CREATE TABLE satchel_rekeyed (
      entry INTEGER PRIMARY KEY,
      table_name TEXT NOT NULL,
      old_key NOT NULL,
      new_key NOT NULL,
      number INTEGER NOT NULL,  -- the emission with which it did
      sequence INTEGER,         -- the last export before that; NULL: the hub gave the key, and knows
      known INTEGER NOT NULL    -- 1: the hub is known to know of it
    )
    """

  /// A row for each conflict that was decided on this device.
  static let resolutions = """
    CREATE TABLE satchel_resolutions (
      conflict TEXT PRIMARY KEY,
      decision TEXT NOT NULL,       -- hub, device, set
      user TEXT NOT NULL,
      stamp INTEGER NOT NULL,
      generation INTEGER NOT NULL,  -- in which the decision was written into the row
      note TEXT
    )
    """
}
