/// Commands by which hub and device continue after their histories or rows have parted. Also imports that find such a
/// parting.
extension CrashCase {
  static let ofPartedHistories = [
    CrashCase(
      testDescription: "a restored device", tool: "satchel-hub",
      words: ["-C", "hub", "device", "fork", "tablet", "--restored"],
      before: [
        putBackDevice, export, merge, ["bash", "-c", refused("satchel-hub -C hub import HERE/former.satchel")],
      ],
      then: """
        fork="satchel-hub -C hub device fork tablet --restored"
        $fork || $fork 2>&1 | grep -q 'Nothing came from the device'
        satchel -C tablet sync STICK
        # After an interrupted run, the next bundle of the present history is refused, and the run is repeated. The hub
        # may have answered the former history meanwhile.
        satchel-hub -C hub sync STICK || {
          test $? = 3; $fork; satchel -C tablet sync STICK || test $? = 3; satchel-hub -C hub sync STICK
        }
        """),
    CrashCase(
      testDescription: "a handover", tool: "satchel",
      words: ["-C", "tablet", "import", "STICK/camp-hub-tablet-2.satchel"],
      before: [
        ["satchel-hub", "-C", "hub", "user", "add", "ben"],
        ["satchel-hub", "-C", "hub", "device", "set", "tablet", "--user", "ben"],
        ["satchel-hub", "-C", "hub", "emit", "--device", "tablet", "--to", "STICK"],
      ],
      then: """
        satchel -C tablet import STICK/camp-hub-tablet-2.satchel
        test "$(satchel -C tablet status --json | jq -r .user)" = ben
        satchel -C tablet sync STICK
        satchel-hub -C hub sync STICK
        test "$(sqlite3 office.sqlite 'SELECT DISTINCT user FROM satchel_log WHERE device IS NOT NULL')" = ann
        """),
    CrashCase(
      testDescription: "rows sent again", tool: "satchel-hub", words: ["-C", "hub", "compare", "tablet", "--repair"],
      before: [
        export, merge, export, writeUnseen, export, merge, ["satchel-hub", "-C", "hub", "compare", "tablet"], merge,
        export, merge,
      ],
      then: """
        repair="satchel-hub -C hub compare tablet --repair"
        $repair || $repair 2>&1 | grep -q 'It is not known which rows'
        satchel-hub -C hub sync STICK
        satchel -C tablet sync STICK
        test "$(sqlite3 tablet/data.sqlite "SELECT name FROM sites WHERE id = 'hill'")" = Hill
        # The hub's doctor reports the difference until the device has shown its rows again.
        satchel -C tablet export --prove
        """,
      // The second conflict keeps the unseen value.
      conflicts: 2),
    CrashCase(
      testDescription: "a hub that was set back", tool: "satchel-hub", words: ["-C", "hub", "import", exportAboveHub],
      before: [copyHub, export, merge, export, putBackHub], code: 3,
      then: """
        \(refused("satchel-hub -C hub import \(exportAboveHub)"))
        \(refused("satchel-hub -C hub emit --all"))
        test "$(satchel-hub -C hub status --json | jq -r '.waiting[].reason')" = set-back
        cmp \(exportAboveHub) hub/bundles/inbox/waiting/*
        satchel-hub -C hub restore --in-place
        satchel-hub -C hub sync STICK || test $? = 3
        """),
    CrashCase(
      testDescription: "a bundle of another history", tool: "satchel",
      words: ["-C", "tablet", "import", otherEmission],
      before: [emitFromCopy, merge, export, ["bash", "-c", "mv other/*.satchel stick; rmdir other"]], code: 3,
      then: """
        \(refused("satchel -C tablet import \(otherEmission)"))
        test "$(satchel -C tablet status --json | jq -r .estrangement.reason)" = other-history
        cmp \(otherEmission) tablet/bundles/inbox/waiting/*
        rm \(otherEmission)
        """),
  ]

  /// A shell command that expects this other command to refuse a bundle.
  private static func refused(_ command: String) -> String { "code=0; \(command) || code=$?; test $code = 3" }

  /// An export of the tablet. It builds on an emission that the hub has no record of after it was set back.
  private static let exportAboveHub = "STICK/SATCHEL/camp/hub/tablet/camp-tablet-hub-2.satchel"
  /// An emission of a copy of the hub. The hub has made another emission with the same number.
  private static let otherEmission = "STICK/camp-hub-tablet-2.satchel"

  /// The tablet is restored from a backup without the new review, and its user writes again. A stick has the export
  /// from before the restore.
  private static let putBackDevice = [
    "bash", "-c",
    """
    cp -a tablet backup
    rm -r backup/files
    sqlite3 backup/data.sqlite "DELETE FROM reviews WHERE id = 'r3'"
    satchel -C tablet export
    mv tablet/bundles/outbox/camp-tablet-hub-1.satchel former.satchel
    rm -r tablet
    mv backup tablet
    for words in again mine; do
      sqlite3 tablet/data.sqlite "UPDATE reviews SET words = '$words' WHERE id = 'r1'"
    done
    """,
  ]

  /// A program writes to a row of the tablet while capture is off. The next export carries digests of all rows.
  private static let writeUnseen = [
    "bash", "-c",
    """
    triggers="FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'satchel%'"
    made=$(sqlite3 tablet/data.sqlite "SELECT sql || ';' $triggers")
    # A pipe would write while the query still reads, and then the database is locked.
    drops=$(sqlite3 tablet/data.sqlite "SELECT format('DROP TRIGGER %Q;', name) $triggers")
    sqlite3 tablet/data.sqlite "$drops"
    sqlite3 tablet/data.sqlite "UPDATE sites SET name = 'Swamp' WHERE id = 'hill'; $made"
    satchel -C tablet export --prove
    """,
  ]

  /// A copy of the hub makes an emission. Then the copy is removed.
  private static let emitFromCopy = [
    "bash", "-c",
    """
    mkdir copy other
    cp -a hub office.sqlite copy
    jq '.database = "HERE/copy/office.sqlite"' hub/satchel.json > copy/hub/satchel.json
    sqlite3 copy/office.sqlite "UPDATE sites SET name = 'Mere' WHERE id = 'hill'"
    satchel-hub -C copy/hub emit --device tablet --to HERE/other
    rm -r copy
    """,
  ]
}
