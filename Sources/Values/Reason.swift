/// The words by which a program recognises an error or a finding. `docs/JSON.md` lists them. A word never changes its
/// meaning.
public enum Reason: String, CaseIterable, Sendable {
  /// The content of an encrypted file was changed or damaged, or the file ends too early.
  case ageContentChanged = "age-content-changed"
  /// The header of an encrypted file was changed or damaged.
  case ageHeaderChanged = "age-header-changed"
  /// A text is no recipient or identity of age.
  case ageKeyMalformed = "age-key-malformed"
  /// The header of an encrypted file breaks the rules of the age format.
  case ageMalformed = "age-malformed"
  /// There is too little memory to open or make an encrypted file.
  case ageNoMemory = "age-no-memory"
  /// The file is not encrypted in the age format.
  case ageNotEncrypted = "age-not-encrypted"
  /// The file is encrypted for another recipient.
  case ageNotForUs = "age-not-for-us"
  /// The password of an encrypted file is wrong.
  case ageWrongPassword = "age-wrong-password"
  /// A name or an id fits more than one object.
  case ambiguous
  /// A bundle's archive cannot be read or written.
  case archive
  /// The archive of bundles and the hub's records do not agree.
  case audit
  /// A user's attribute has the wrong type.
  case badAttribute = "bad-attribute"
  /// A row of `satchel_conflicts` cannot be read.
  case badConflict = "bad-conflict"
  /// A CSV file breaks the rules.
  case badCsv = "bad-csv"
  /// A row of `satchel_devices` cannot be read.
  case badDevice = "bad-device"
  /// The content of an entry in a bundle differs from its signed digest.
  case badDigest = "bad-digest"
  /// An entry of a bundle is unknown, out of order or no plain file.
  case badEntry = "bad-entry"
  /// A row of `satchel_exports` cannot be read.
  case badExport = "bad-export"
  /// An attached file cannot be put at its path.
  case badFile = "bad-file"
  /// A key file of the workspace is missing or wrong.
  case badKey = "bad-key"
  /// A line of a bundle breaks the rules of the format.
  case badLine = "bad-line"
  /// A manifest breaks the rules of the format.
  case badManifest = "bad-manifest"
  /// A name cannot be used here.
  case badName = "bad-name"
  /// A stored set of rows cannot be read.
  case badSet = "bad-set"
  /// A signature does not fit.
  case badSignature = "bad-signature"
  /// `satchel.json` is damaged or incomplete.
  case badWorkspace = "bad-workspace"
  /// A bundle deletes or changes more rows than the dataset's brake allows without a person's consent.
  case brake
  /// Another command or program is at work. Try again.
  case busy
  /// The person answered no, or there was no terminal for the question. Nothing was changed.
  case cancelled
  /// The database, or a file that belongs to it, cannot be opened.
  case cannotOpen = "cannot-open"
  /// The database already has capture of another workspace.
  case captured
  /// A clock is wrong.
  case clock
  /// Two copies of one device are in use.
  case copied
  /// The database is damaged.
  case corrupt
  /// SQLite assigns the keys of a table, so two devices can give the same key to two rows.
  case countedKeys = "counted-keys"
  /// Another program changed the database, and capture may have missed changes.
  case damaged
  /// SQLite reports another error.
  case database
  /// The database is missing, although bundles show that there was one.
  case databaseLost = "database-lost"
  /// The dataset's definition does not fit the database, or breaks the rules.
  case datasetDefinition = "dataset-definition"
  /// The conflict was decided already.
  case decided
  /// A device's rows differ from the rows that the hub expects.
  case differs
  /// The database of this device is on a tablet.
  case docked
  /// There is already a file, folder or object with this name.
  case exists
  /// The last day of the device or its user has passed.
  case expired
  /// The stick has less room than it reports.
  case falseSize = "false-size"
  /// A bundle carries an attached file that the dataset does not allow.
  case fileNotAllowed = "file-not-allowed"
  /// The text that the person typed is no fingerprint.
  case fingerprintMistyped = "fingerprint-mistyped"
  /// A person must compare a fingerprint first.
  case fingerprintNeeded = "fingerprint-needed"
  /// The hub received two histories of one device. An operator must choose one.
  case flagged
  /// References lead to missing rows.
  case foreignKeys = "foreign-keys"
  /// The hub no longer has these changes in its log.
  case forgotten
  /// The bundle is from a copy of a device.
  case fork
  /// A former user of the device wrote the changes, and the device was given away too long ago.
  case formerUser = "former-user"
  /// Earlier bundles are missing.
  case gap
  /// Other rows refer to this row.
  case hasChildren = "has-children"
  /// The user still has a device.
  case hasDevice = "has-device"
  /// The device has no data yet.
  case initial
  /// A folder would lie inside the workspace.
  case insideWorkspace = "inside-workspace"
  /// A folder is in the place of a file.
  case isADirectory = "is-a-directory"
  /// A decision cannot change a row's primary key.
  case keyColumn = "key-column"
  /// The comment of a key file cannot be used.
  case keyCommentUnfit = "key-comment-unfit"
  /// SQLite has lost its count of new primary keys.
  case keyCount = "key-count"
  /// A key file is damaged.
  case keyDamaged = "key-damaged"
  /// A file is no minisign key.
  case keyMalformed = "key-malformed"
  /// There is too little memory to open a key.
  case keyNoMemory = "key-no-memory"
  /// The key needs a password.
  case keyPasswordProtected = "key-password-protected"
  /// A file is larger than any key file.
  case keyTooLarge = "key-too-large"
  /// The password of a key is wrong.
  case keyWrongPassword = "key-wrong-password"
  /// The key already has another owner.
  case knownKey = "known-key"
  /// A killed command left a file behind.
  case leftover
  /// A link is in the place of a file or folder.
  case link
  /// Another command works on this workspace.
  case locked
  /// Only keys that are inside the backup can decrypt the backup.
  case lockedIn = "locked-in"
  /// A migration fails, or does not fit the database.
  case migration
  /// There is no such file or folder.
  case missing
  /// A table of Satchel is missing from the database.
  case missingTable = "missing-table"
  /// The device needs another name.
  case nameNeeded = "name-needed"
  /// The bundle is signed with an unknown key of the hub.
  case newHubKey = "new-hub-key"
  /// The bundle has a later version of the dataset.
  case newerDataset = "newer-dataset"
  /// A newer version of Satchel made the bundle.
  case newerFormat = "newer-format"
  /// A newer version of Satchel changed the database or the workspace.
  case newerSchema = "newer-schema"
  /// The dataset has no such attribute.
  case noAttribute = "no-attribute"
  /// There is no such bundle, or it cannot be read or written.
  case noBundle = "no-bundle"
  /// The table has no such column.
  case noColumn = "no-column"
  /// There is no such conflict.
  case noConflict = "no-conflict"
  /// This program has no console.
  case noConsole = "no-console"
  /// There is no such database.
  case noDatabase = "no-database"
  /// There is no such device.
  case noDevice = "no-device"
  /// The file of an export is missing.
  case noExport = "no-export"
  /// There is no such refused file.
  case noFile = "no-file"
  /// There is no such folder.
  case noFolder = "no-folder"
  /// The device has only one history.
  case noFork = "no-fork"
  /// No conflict has a geometry.
  case noGeometries = "no-geometries"
  /// A geometry column holds text.
  case noGeometry = "no-geometry"
  /// The bundles that are needed are not in the archive.
  case noHistory = "no-history"
  /// The hub's public key is missing.
  case noHubKey = "no-hub-key"
  /// The workspace has no key of its own.
  case noKey = "no-key"
  /// There is no such operator.
  case noOperator = "no-operator"
  /// The row refers to a row that is not there.
  case noParent = "no-parent"
  /// The recipient of encrypted bundles is not known yet.
  case noRecipient = "no-recipient"
  /// The hub recovers nothing from its devices at present.
  case noRecovery = "no-recovery"
  /// A column looks like a reference, but neither the database nor the dataset declares it.
  case noReference = "no-reference"
  /// There is no row with this key, and there never was one.
  case noRow = "no-row"
  /// There is no room left.
  case noSpace = "no-space"
  /// There is no such table.
  case noTable = "no-table"
  /// There is no such template.
  case noTemplate = "no-template"
  /// There is no such user.
  case noUser = "no-user"
  /// There is no workspace in this folder.
  case noWorkspace = "no-workspace"
  /// The file is no bundle.
  case notABundle = "not-a-bundle"
  /// The file is no SQLite database.
  case notADatabase = "not-a-database"
  /// A file is in the place of a folder.
  case notADirectory = "not-a-directory"
  /// Another object than a plain file is in the place of a file.
  case notAFile = "not-a-file"
  /// The value is no geometry.
  case notAGeometry = "not-a-geometry"
  /// The database does not allow the row as it was decided.
  case notAllowed = "not-allowed"
  /// The medium does not hold what was written to it.
  case notAsWritten = "not-as-written"
  /// Satchel did not set up this database.
  case notCaptured = "not-captured"
  /// It is not known yet which rows differ.
  case notCompared = "not-compared"
  /// The conflict is not decided.
  case notDecided = "not-decided"
  /// The folder is not empty.
  case notEmpty = "not-empty"
  /// The device is not flagged.
  case notFlagged = "not-flagged"
  /// The bundle is for another workspace.
  case notForUs = "not-for-us"
  /// The ledger has an imported bundle that the database does not contain.
  case notImported = "not-imported"
  /// No medium is mounted in a folder for media.
  case notMounted = "not-mounted"
  /// The device is not on hold.
  case notOnHold = "not-on-hold"
  /// The device's user may not change the row.
  case notTheUsers = "not-the-users"
  /// The number of a bundle is higher than it can be.
  case number
  /// A newer bundle has already come.
  case older
  /// The database was replaced by an older copy.
  case olderDatabase = "older-database"
  /// The bundle has an earlier version of the dataset.
  case olderDataset = "older-dataset"
  /// The bundle has an older list of revoked keys.
  case olderRevocations = "older-revocations"
  /// The device is on hold: its bundles wait until the operator releases it.
  case onHold = "on-hold"
  /// Other users of this machine can read or write a folder.
  case openFolder = "open-folder"
  /// Other users of this machine can read a key.
  case openKey = "open-key"
  /// Other users of this machine can read a password file.
  case openPassword = "open-password"
  /// The database has no record of an export in the outbox.
  case orphan
  /// Another error.
  case other
  /// The selected conflicts are not those that the person saw before the decision.
  case otherConflicts = "other-conflicts"
  /// The database belongs to another device.
  case otherDevice = "other-device"
  /// The bundle belongs to an epoch that this replica does not know.
  case otherEpoch = "other-epoch"
  /// A fingerprint differs from the expected fingerprint.
  case otherFingerprint = "other-fingerprint"
  /// The layer does not accept this geometry.
  case otherGeometry = "other-geometry"
  /// The bundle belongs to another history of the hub.
  case otherHistory = "other-history"
  /// The bundle is from another copy of the hub.
  case otherHub = "other-hub"
  /// The bundle is from another folder of the device.
  case otherIncarnation = "other-incarnation"
  /// The bundle is signed with a key that is not its sender's key.
  case otherKey = "other-key"
  /// The bundle names a wrong sender or receiver.
  case otherName = "other-name"
  /// A geometry has another reference system than its layer.
  case otherReferenceSystem = "other-reference-system"
  /// The workspace belongs to the other tool.
  case otherRole = "other-role"
  /// The device works for a user whom the hub's record does not name for it. Or a delta is for another user than the
  /// device's user.
  case otherUser = "other-user"
  /// A request has the id of this hub.
  case ownId = "own-id"
  /// The bundle is from a copy of a device, and the operator chose another copy to keep the device's name.
  case parted
  /// A password may not be empty.
  case passwordEmpty = "password-empty"
  /// The two passwords are not the same.
  case passwordMistyped = "password-mistyped"
  /// A password is needed, and there is no person to ask.
  case passwordNeeded = "password-needed"
  /// The system does not allow it.
  case permissionDenied = "permission-denied"
  /// The policy cannot decide about this conflict.
  case policy
  /// The policy of a column needs values of another type than the column has.
  case policyType = "policy-type"
  /// The medium or the database cannot be written.
  case readOnly = "read-only"
  /// A reference has no index.
  case referenceIndex = "reference-index"
  /// A reference leads to a table outside the dataset.
  case referenceOut = "reference-out"
  /// A GeoPackage declares a reference, which `init` reads.
  case referenceRead = "reference-read"
  /// A column of text refers to whole numbers.
  case referenceType = "reference-type"
  /// The device has asked the hub for a new name, and has no answer yet.
  case renewed
  /// A command that gives the device a new name was interrupted.
  case renewing
  /// Another program replaced the database.
  case replaced
  /// The bundle is signed with a key that was replaced.
  case replacedKey = "replaced-key"
  /// The device was revoked.
  case revoked
  /// The list of revoked keys contains a key that is in use.
  case revokedInUse = "revoked-in-use"
  /// The bundle is signed with a revoked key.
  case revokedKey = "revoked-key"
  /// A new key exists, but not every replica is known to have it.
  case rotating
  /// The row was changed since the conflict was found.
  case rowChanged = "row-changed"
  /// The row is gone, and this replica does not know its other values.
  case rowGone = "row-gone"
  /// A row is larger than a bundle allows.
  case rowTooLarge = "row-too-large"
  /// This database does not accept a row from the hub.
  case rowUnwritable = "row-unwritable"
  /// The row waits for the hub's operator.
  case rowWaits = "row-waits"
  /// Two rows from the hub cannot both be in this database.
  case rowsCollide = "rows-collide"
  /// Rows leave devices as days pass. Late work on such rows is a conflict.
  case rowsLeave = "rows-leave"
  /// Two bundles have the same id.
  case sameId = "same-id"
  /// The tables of hub and device differ.
  case schemaDiffers = "schema-differs"
  /// The tables were changed in a way that a person must look at.
  case schemaDrift = "schema-drift"
  /// Work of a former user has not reached the hub yet.
  case sealed
  /// The hub's files were replaced by an older copy.
  case setBack = "set-back"
  /// The comment of a signature cannot be used.
  case signatureCommentUnfit = "signature-comment-unfit"
  /// The comment of a signature differs from the signed comment.
  case signatureCommentWrong = "signature-comment-wrong"
  /// The signature has the former form of minisign.
  case signatureLegacy = "signature-legacy"
  /// A file is no signature.
  case signatureMalformed = "signature-malformed"
  /// The signature is from another key.
  case signatureOtherKey = "signature-other-key"
  /// A file is larger than any signature.
  case signatureTooLarge = "signature-too-large"
  /// The signature does not fit the message.
  case signatureWrong = "signature-wrong"
  /// A spatial index does not fit its layer.
  case spatialIndex = "spatial-index"
  /// A file in the outbox need not be carried any more.
  case staleFile = "stale-file"
  /// The stick has too little room.
  case stickFull = "stick-full"
  /// The system reports an error of the disk or of a file.
  case systemError = "system-error"
  /// The template has rows that are different from the hub's rows.
  case templateRows = "template-rows"
  /// The column holds bytes, and the value is text.
  case textForBytes = "text-for-bytes"
  /// A value, a file or another object is larger than its limit.
  case tooLarge = "too-large"
  /// Too many files are open.
  case tooManyFiles = "too-many-files"
  /// The bundle would have too many volumes.
  case tooManyVolumes = "too-many-volumes"
  /// There is more data after the end of the bundle.
  case trailingData = "trailing-data"
  /// A trigger of the app cannot run.
  case trigger
  /// The file ends too early.
  case truncated
  /// The decision needs a UNIQUE value of a row about which the same device has an undecided conflict.
  case undecidedRow = "undecided-row"
  /// The creation of a workspace was interrupted.
  case unfinished
  /// The conflict is about a unit, and a unit is decided as a whole.
  case unit
  /// The bundle was made on an emission that the hub does not know.
  case unknownEmission = "unknown-emission"
  /// The bundle is signed with a key that this replica does not trust.
  case unknownKey = "unknown-key"
  /// The start value of a counter or a set is unknown, so a person must give the right value.
  case unknownStart = "unknown-start"
  /// A request contains a statement that no key proves.
  case unproved
  /// The device does not know its hub yet.
  case untrustedHub = "untrusted-hub"
  /// The command is wrong.
  case usage
  /// Other rows have UNIQUE values that a decision needs, or that a row needs to come back.
  case valueTaken = "value-taken"
  /// There is no room for more pieces of incomplete bundles.
  case volumesFull = "volumes-full"
  /// The bundle belongs to another dataset.
  case wrongDataset = "wrong-dataset"
  /// This replica does not import bundles of this kind.
  case wrongKind = "wrong-kind"
  /// The app on the tablet wrote to its database during the dock. Close the app, and try again.
  case writtenMeanwhile = "written-meanwhile"
}
