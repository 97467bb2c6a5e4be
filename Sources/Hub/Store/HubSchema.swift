/// The hub's own tables. Capture, conflicts, blocks and the ledger have tables of their own.
enum HubSchema {
  static let all = [
    // The hub, its users and its devices.
    hub, epochs, setBack, users, devices, formerKeys, revoked, HubStore.formerUsers, HubStore.operators,
    HubStore.acts,
    // Bundles from devices, and the changes in them.
    log, chain, branches, rekeyed, HubStore.knownWrites, HubStore.recoveredRows, HubStore.joinedRows,
    HubStore.braked,
    // Emissions for devices.
    emissions, emissionSets, owed, declared, HubStore.lostEmissions, HubStore.awaitedEmissions,
    HubStore.formerEmissions, HubStore.doubtfulTimes,
    // States of devices.
    HubStore.proofs, HubStore.differentRows, HubStore.reports, HubStore.health, HubStore.formerRights,
    HubStore.attachments, HubStore.received, HubStore.files,
  ]

  private static let hub = """
    CREATE TABLE satchel_hub (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      id TEXT NOT NULL,
      name TEXT NOT NULL,
      epoch TEXT NOT NULL,       -- of this history
      emissions_from INTEGER NOT NULL DEFAULT 0, -- emissions with a lower number are of an epoch before this one
      epoch_cursor INTEGER NOT NULL DEFAULT 0,   -- changes up to this cursor are older than this epoch
      former_known INTEGER NOT NULL DEFAULT 1,   -- 0: not all epochs before this one are in satchel_epochs
      recovering INTEGER NOT NULL DEFAULT 0,     -- 1: devices bring back a lost time; 2: and an older one
      log_from INTEGER NOT NULL DEFAULT 0,       -- changes up to this cursor are forgotten
      key_lost INTEGER NOT NULL DEFAULT 0,       -- the epoch's first emission when a key replaced a lost one; 0: never
      clock INTEGER NOT NULL DEFAULT 0,          -- this hub's clock when it last looked for local writes; 0: never
      definition TEXT NOT NULL,  -- the dataset's definition
      revocations INTEGER NOT NULL DEFAULT 0, -- the number of the list of revoked keys
      names_settled INTEGER NOT NULL DEFAULT 0 -- files have the names that changes up to this cursor give them
    )
    """

  /// One row for each former epoch.
  static let epochs = """
    CREATE TABLE satchel_epochs (
      epoch TEXT PRIMARY KEY,
      learned INTEGER NOT NULL -- 1: this hub never was in it, and knows it from a bundle that it signed itself
    ) WITHOUT ROWID
    """

  /// The proof that the hub was set back: one row as long as the hub is set back.
  static let setBack = """
    CREATE TABLE satchel_set_back (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      at INTEGER NOT NULL,     -- milliseconds since 1970 when it was found
      device TEXT NOT NULL,    -- for which the emission was made that this hub signed and does not know
      epoch TEXT NOT NULL,     -- of that emission
      number INTEGER NOT NULL, -- the same
      digest TEXT NOT NULL,    -- the same
      key TEXT                 -- minisign public key that the emission announces and this hub lacks; NULL: none
    )
    """

  /// One row for each former key of a device.
  private static let formerKeys = """
    CREATE TABLE satchel_former_keys (
      key TEXT PRIMARY KEY,  -- minisign public key
      device TEXT NOT NULL
    ) WITHOUT ROWID
    """

  /// One row for each key with which no replica may sign any more.
  private static let revoked = """
    CREATE TABLE satchel_revoked (
      key TEXT PRIMARY KEY,  -- minisign public key
      at INTEGER NOT NULL    -- milliseconds since 1970
    ) WITHOUT ROWID
    """

  private static let users = """
    CREATE TABLE satchel_users (
      name TEXT PRIMARY KEY,
      attributes TEXT NOT NULL, -- JSON object
      expires INTEGER           -- milliseconds since 1970, from when on nothing is made for the user; NULL: never
    ) WITHOUT ROWID
    """

  private static let devices = """
    CREATE TABLE satchel_devices (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      user TEXT NOT NULL,
      key TEXT NOT NULL,             -- minisign public key
      next_key TEXT,                 -- with which it may sign by now
      recipient TEXT,                -- for whom bundles for it are encrypted, in age's form
      told_key INTEGER,              -- the emission that first told it of the hub's next key; NULL: none yet
      continues TEXT,                -- the device of which it was a copy; NULL: of none
      revoked_from INTEGER,          -- the first sequence that is refused, where it is revoked
      expires INTEGER,               -- milliseconds since 1970, from when on it is no device of ours; NULL: never
      read_only INTEGER NOT NULL DEFAULT 0, -- 1: it may change nothing
      incarnation TEXT NOT NULL,
      state TEXT NOT NULL,           -- active, preparing, flagged, revoked
      merged INTEGER NOT NULL,       -- the highest sequence merged
      proved INTEGER NOT NULL,       -- the emission that its last bundle names
      emitted INTEGER NOT NULL DEFAULT 0, -- the last emission that was made for it
      enrolled INTEGER NOT NULL,     -- milliseconds since 1970
      heard INTEGER,                 -- when a bundle of its was imported last
      skew INTEGER NOT NULL,         -- milliseconds by which its clock was ahead then; negative: it was behind
      understands TEXT NOT NULL DEFAULT '', -- the critical features that it can read, as its last bundle said
      stamp INTEGER NOT NULL DEFAULT 0, -- the newest that its bundles have shown, and never above the hub's time
      asked TEXT,                    -- by which name it calls itself; NULL: not known
      next_proved INTEGER NOT NULL DEFAULT 0, -- 1: the next key signed that it is announced
      refused_key TEXT,              -- the key that its last bundle announced and that was refused; NULL: none
      signs_keys INTEGER NOT NULL DEFAULT 0, -- 1: it has shown a release whose new keys sign their announcement
      only_receives INTEGER NOT NULL DEFAULT 0, -- 1: it was made without keys, so it delivers nothing
      backed_up INTEGER NOT NULL DEFAULT 0, -- the highest sequence that the last backup contains; 0: none
      hold_since INTEGER,            -- milliseconds since 1970 when it was put on hold; NULL: it is not on hold
      hold_note TEXT                 -- the operator's reason for the hold; NULL: none
    ) WITHOUT ROWID
    """

  /// One row for each change of a row that the hub committed.
  private static let log = """
    CREATE TABLE satchel_log (
      cursor INTEGER PRIMARY KEY,
      table_name TEXT NOT NULL,
      row INTEGER NOT NULL,      -- the row's stable number
      previous INTEGER,          -- the cursor of the change of this row before this one
      key TEXT NOT NULL,         -- JSON array
      operation TEXT NOT NULL,   -- insert, update, delete
      set_values TEXT,           -- JSON object: what the columns became
      was_values TEXT,           -- JSON object: what they were
      device TEXT,               -- whose change it was; NULL: somebody at the hub
      user TEXT NOT NULL,
      stamp INTEGER NOT NULL,    -- hybrid logical clock of the change
      bundle TEXT,               -- in which it came
      echo INTEGER NOT NULL,     -- 1: the device itself needs it sent back
      at INTEGER NOT NULL        -- milliseconds since 1970
    )
    """

  /// One row for each emission that a device says it has, and that the hub made and has forgotten.
  static let declared = """
    CREATE TABLE satchel_declared (
      device TEXT PRIMARY KEY,
      number INTEGER NOT NULL,
      digest TEXT NOT NULL
    ) WITHOUT ROWID
    """

  /// One row for each emission that a device may still have.
  private static let emissions = """
    CREATE TABLE satchel_emissions (
      device TEXT NOT NULL,
      number INTEGER NOT NULL,
      cursor INTEGER NOT NULL,        -- the hub's cursor at its making
      acknowledged INTEGER NOT NULL,  -- the device's sequence that it acknowledges
      version INTEGER NOT NULL,       -- of the dataset's definition
      revocations INTEGER NOT NULL,   -- the number of the list of revoked keys in it
      user TEXT NOT NULL,
      attributes TEXT,                -- JSON object: the user's attributes then; NULL: not known
      basis TEXT,                     -- a digest of what decided visibility, except rows; NULL: not known
      file TEXT NOT NULL,
      written INTEGER NOT NULL,       -- 1: the file is there and safe
      digest TEXT,                    -- of its B2SUMS; NULL: not known
      stamp INTEGER NOT NULL DEFAULT 0, -- the newest stamp in it, or a later one
      rows_left INTEGER NOT NULL DEFAULT 0, -- rows of the user that it left out to be small
      PRIMARY KEY (device, number)
    ) WITHOUT ROWID
    """

  /// The rows that a device holds after each emission. The full set is stored for the newest emission. For each earlier
  /// emission, the difference from the next one is stored.
  private static let emissionSets = """
    CREATE TABLE satchel_emission_sets (
      device TEXT NOT NULL,
      number INTEGER NOT NULL,
      table_name TEXT NOT NULL,
      rows BLOB NOT NULL,  -- stable row numbers, compressed
      PRIMARY KEY (device, number, table_name)
    ) WITHOUT ROWID
    """

  /// One row for each row whose true state a device must receive, whatever the log contains.
  private static let owed = """
    CREATE TABLE satchel_owed (
      device TEXT NOT NULL,
      table_name TEXT NOT NULL,
      row INTEGER NOT NULL,
      emission INTEGER,  -- that carried it; NULL: none yet
      if_visible INTEGER NOT NULL DEFAULT 0, -- 1: the device deleted the hidden row; sent only if visible
      equal_at INTEGER,  -- the device brought the row too, and has seen the writes up to this cursor; NULL: it did not
      PRIMARY KEY (device, table_name, row)
    ) WITHOUT ROWID
    """

  /// One row for each row of a device that has one key at the hub and another key on the device.
  private static let rekeyed = """
    CREATE TABLE satchel_rekeyed (
      entry INTEGER PRIMARY KEY,
      table_name TEXT NOT NULL,
      new_key NOT NULL,     -- the row's key at the hub: a new key, or the key of the row that it became
      device TEXT NOT NULL, -- whose row it is
      old_key NOT NULL,     -- its key on the device, until the device gets the new key
      bundle TEXT,          -- which brought the row
      at INTEGER NOT NULL,  -- milliseconds since 1970
      told INTEGER          -- the emission that carries the new key; NULL: none yet
    );
    CREATE INDEX satchel_rekeyed_keys ON satchel_rekeyed (table_name, new_key);
    \(rekeyedIndexes)
    """

  /// Indexes. The first finds a row by its key on its device. The second finds keys that no emission has carried to a
  /// device yet.
  static let rekeyedIndexes = """
    CREATE INDEX satchel_rekeyed_old_keys ON satchel_rekeyed (table_name, old_key, device);
    CREATE INDEX satchel_rekeyed_untold ON satchel_rekeyed (device, told)
    """

  /// One row for each history that a copy of a device wrote, and that no device continues yet. The chain, the log and
  /// conflicts use the history's id.
  private static let branches = """
    CREATE TABLE satchel_branches (
      id TEXT PRIMARY KEY,
      device TEXT NOT NULL,    -- from whose history it parted
      parted INTEGER NOT NULL, -- the last export that both have in common
      merged INTEGER NOT NULL, -- the highest of its exports that was merged
      at INTEGER NOT NULL      -- milliseconds since 1970 when somebody decided so
    ) WITHOUT ROWID
    """

  /// One row for each export that a device delivered, or that it named in a later export.
  private static let chain = """
    CREATE TABLE satchel_chain (
      device TEXT NOT NULL,
      sequence INTEGER NOT NULL,
      digest TEXT NOT NULL,  -- of its B2SUMS
      PRIMARY KEY (device, sequence)
    ) WITHOUT ROWID
    """
}
