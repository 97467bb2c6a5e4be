import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// One command that an operator may run, and the commands that must run before it.
struct CrashCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let tool: String
  let words: [String]
  /// The commands that run first. Each is a tool and its arguments.
  var before: [[String]] = []
  /// The exit code of the command if it is not killed.
  var code: Int32 = 0
  /// A shell command that must succeed afterwards, before both sides continue; nil: there is none.
  var then: String?
  /// The expected number of conflicts at the hub at the end.
  var conflicts = 1

  static let export = ["satchel", "-C", "tablet", "sync", "STICK"]
  static let merge = ["satchel-hub", "-C", "hub", "sync", "STICK"]
  static let step = ["satchel-hub", "-C", "hub", "dataset", "apply", "../camp-2.json", "--migration", "../camp-2.sql"]
  static let all = ofOneHistory + ofPartedHistories

  private static let ofOneHistory = [
    CrashCase(testDescription: "export", tool: "satchel", words: ["-C", "tablet", "export"]),
    CrashCase(
      testDescription: "hub import", tool: "satchel-hub",
      words: ["-C", "hub", "import", "STICK/SATCHEL/camp/hub/tablet/camp-tablet-hub-1.satchel"],
      before: [export]),
    CrashCase(testDescription: "emit", tool: "satchel-hub", words: ["-C", "hub", "emit", "--all"]),
    CrashCase(
      testDescription: "device import", tool: "satchel",
      words: ["-C", "tablet", "import", "STICK/SATCHEL/camp/tablet/hub/camp-hub-tablet-2.satchel"],
      before: [export, merge]),
    CrashCase(
      testDescription: "full import", tool: "satchel",
      words: ["-C", "tablet", "import", "STICK/camp-hub-tablet-2.satchel"],
      before: [["satchel-hub", "-C", "hub", "emit", "--device", "tablet", "--full", "--to", "STICK"]]),
    CrashCase(
      testDescription: "device sync", tool: "satchel", words: ["-C", "tablet", "sync", "STICK"], before: [merge]),
    CrashCase(
      testDescription: "hub sync", tool: "satchel-hub", words: ["-C", "hub", "sync", "STICK"], before: [export]),
    CrashCase(
      testDescription: "apply", tool: "satchel", words: ["-C", "tablet", "apply"],
      before: [
        merge,
        ["satchel", "-C", "tablet", "import", "--stage", "STICK/SATCHEL/camp/tablet/hub/camp-hub-tablet-2.satchel"],
      ]),
    CrashCase(
      testDescription: "backup", tool: "satchel-hub", words: ["-C", "hub", "backup", "monday.satchel"],
      before: [export, merge]),
    CrashCase(
      testDescription: "compact", tool: "satchel-hub",
      words: ["-C", "hub", "compact", "--older-than", "1", "--shrink"],
      before: [merge, export, merge]),
    CrashCase(testDescription: "dataset apply", tool: "satchel-hub", words: Array(step.dropFirst())),
    CrashCase(
      testDescription: "import of a new version", tool: "satchel",
      words: ["-C", "tablet", "import", "STICK/SATCHEL/camp/tablet/hub/camp-hub-tablet-2.satchel"],
      before: [step, export, merge]),
    CrashCase(
      testDescription: "restore", tool: "satchel-hub", words: ["restore", "monday.satchel", "hub-2", "--keys", "safe"],
      before: [export, merge, backup],
      then: """
        test -e hub-2/satchel.json || satchel-hub restore monday.satchel hub-2 --keys safe
        satchel-hub restore monday.satchel hub-3 --keys safe
        satchel-hub -C hub-2 emit --all
        satchel-hub -C hub-2 doctor
        """),
    CrashCase(
      testDescription: "a delivery once more", tool: "satchel", words: ["-C", "tablet", "sync", "STICK"],
      before: [
        backup, export, merge, export,
        [
          "bash", "-c",
          """
          rm -r hub office.sqlite stick/SATCHEL; satchel-hub restore monday.satchel hub --keys safe; ln -s \
          hub/office.sqlite office.sqlite
          """,
        ],
        merge,
      ]),
    CrashCase(
      testDescription: "resolve", tool: "satchel-hub",
      words: ["-C", "hub", "conflicts", "resolve", "CONFLICT", "--keep", "device"],
      before: [export, merge]),
    CrashCase(
      testDescription: "hub init", tool: "satchel-hub",
      words: ["init", "hub-2", "--dataset", "camp.json", "--database", "second.sqlite"],
      before: [
        [
          "bash", "-c",
          "sqlite3 office.sqlite '.schema sites' '.schema reviews' | grep '^CREATE TABLE' | sqlite3 second.sqlite",
        ]
      ],
      then: """
        test -e hub-2/satchel.json -a ! -e hub-2/satchel.unfinished || satchel-hub init hub-2 --dataset camp.json --database second.sqlite
        satchel-hub -C hub-2 user add ann
        satchel-hub -C hub-2 doctor
        """),
    CrashCase(
      testDescription: "device init", tool: "satchel",
      words: ["init", "second", "--dataset", "camp", "--name", "second", "--request", "HERE/request"],
      then: """
        satchel init second --dataset camp --name second --request HERE/request
        print=$(satchel -C second keys show --json | jq -r .fingerprint)
        satchel-hub -C hub device enrol HERE/request --user ann --fingerprint "$print"
        """),
    CrashCase(
      testDescription: "device enrol", tool: "satchel-hub",
      words: ["-C", "hub", "device", "enrol", "HERE/request", "--user", "ann", "--fingerprint", "FINGERPRINT"],
      before: [["satchel", "init", "second", "--dataset", "camp", "--name", "second", "--request", "HERE/request"]],
      then: """
        satchel-hub -C hub device list | grep -q second || satchel-hub -C hub device enrol HERE/request --user ann --fingerprint FINGERPRINT
        satchel-hub -C hub sync STICK
        satchel -C second sync STICK --fingerprint "$(satchel-hub -C hub status --json | jq -r .fingerprint)"
        """),
    CrashCase(
      testDescription: "device provision", tool: "satchel-hub",
      words: ["-C", "hub", "device", "provision", "second", "--user", "ann", "--into", "HERE/second"],
      then: """
        test -e second/satchel.json || satchel-hub -C hub device provision second --user ann --into HERE/second
        satchel-hub -C hub device provision third --user ann --into HERE/third
        satchel -C second sync STICK
        satchel -C second doctor
        """),
    CrashCase(
      testDescription: "a damaged database replaced", tool: "satchel",
      words: ["-C", "tablet", "import", "STICK/SATCHEL/camp/tablet/hub/camp-hub-tablet-3.satchel"],
      before: [
        export, merge, ["satchel-hub", "-C", "hub", "emit", "--device", "tablet", "--full", "--to", "STICK"],
        ["bash", "-c", "head -c 4096 /dev/urandom | dd of=tablet/data.sqlite bs=4096 seek=3 conv=notrunc status=none"],
      ],
      then: """
        satchel -C tablet import STICK/SATCHEL/camp/tablet/hub/camp-hub-tablet-3.satchel
        satchel -C tablet export
        # The new database knows of no export that was made before it.
        rm -f tablet/bundles/sent/*.satchel
        """),
    CrashCase(
      testDescription: "restore in place", tool: "satchel-hub", words: ["-C", "hub", "restore", "--in-place"],
      before: [copyHub, export, merge, export, putBackHub],
      then: """
        satchel-hub -C hub restore --in-place
        satchel-hub -C hub sync STICK || test $? = 3
        """),
    CrashCase(
      testDescription: "restore finished", tool: "satchel-hub", words: ["-C", "hub", "restore", "--finish"],
      before: [
        copyHub, export, merge, export, putBackHub, ["satchel-hub", "-C", "hub", "restore", "--in-place"],
        ["satchel-hub", "-C", "hub", "device", "provision", "silent", "--user", "ann", "--into", "HERE/silent"],
        ["bash", "-c", "satchel-hub -C hub sync STICK || test $? = 3"], export, merge, export,
      ],
      then:
        "satchel-hub -C hub restore --finish || satchel-hub -C hub restore --finish 2>&1 | grep -q 'collects nothing'"),
    CrashCase(
      testDescription: "a lost key replaced", tool: "satchel-hub",
      words: ["-C", "hub", "keys", "rotate", "--lost", "--yes"],
      before: [export, merge],
      then: """
        satchel-hub -C hub keys rotate --lost --yes
        satchel-hub -C hub emit --all --to STICK
        print=$(satchel-hub -C hub keys show --json | jq -r .fingerprint)
        newest=$(ls -v STICK/SATCHEL/camp/tablet/hub/*.satchel | tail -n 1)
        satchel -C tablet import "$newest" --fingerprint "$print"
        rm -r stick/SATCHEL
        """),
    CrashCase(
      testDescription: "a lost database made anew", tool: "satchel", words: ["-C", "tablet", "sync", "STICK"],
      before: [
        export, merge,
        ["bash", "-c", "sqlite3 tablet/data.sqlite 'PRAGMA wal_checkpoint(TRUNCATE)'; rm -f tablet/data.sqlite*"],
      ],
      then: "satchel -C tablet sync STICK"),
    CrashCase(
      testDescription: "renew", tool: "satchel",
      words: ["-C", "tablet", "renew", "--name", "second", "--request", "HERE/request"],
      then: """
        satchel -C tablet renew --name second --request HERE/request
        print=$(satchel -C tablet keys show --json | jq -r .fingerprint)
        satchel-hub -C hub device enrol HERE/request --user ann --fingerprint "$print"
        """),
    CrashCase(
      testDescription: "a hub left", tool: "satchel", words: Array(leave.dropFirst()),
      then: """
        satchel -C tablet renew --hub --request HERE/request
        \(nextHub)
        satchel -C tablet import STICK/camp-hub-tablet-2.satchel --fingerprint "$(satchel-hub -C hub status --json | jq -r .fingerprint)"
        """),
    CrashCase(
      testDescription: "rows that join", tool: "satchel",
      words: ["-C", "tablet", "import", "STICK/camp-hub-tablet-2.satchel", "--fingerprint", "HUBPRINT"],
      before: [leave, ["bash", "-c", nextHub]],
      then: "satchel -C tablet import STICK/camp-hub-tablet-2.satchel --fingerprint HUBPRINT"),
  ]

  private static let leave = ["satchel", "-C", "tablet", "renew", "--hub", "--request", "HERE/request"]
  /// The hub is lost. A new hub begins with the rows that the office still has.
  private static let nextHub = """
    rm -r hub office.sqlite
    sqlite3 office.sqlite "CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT);
      CREATE TABLE reviews (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), words TEXT, photo TEXT);
      INSERT INTO sites VALUES ('lake', 'Lake'), ('hill', 'Hill'), ('cave', 'Cave');
      INSERT INTO reviews VALUES ('r1', 'lake', 'theirs', 'lake.jpg'), ('r2', 'hill', 'steep', NULL)"
    satchel-hub init hub --dataset camp.json --database office.sqlite
    mkdir -p hub/files; printf 'a lake' > hub/files/lake.jpg
    satchel-hub -C hub user add ann
    print=$(satchel -C tablet keys show --json | jq -r .fingerprint)
    satchel-hub -C hub device enrol HERE/request --user ann --fingerprint "$print"
    satchel-hub -C hub emit --device tablet --to STICK
    """

  /// The cases that SATCHEL_CRASH names, or all cases if it is not set.
  static let chosen: [CrashCase] = {
    guard let name = ProcessInfo.processInfo.environment["SATCHEL_CRASH"], !name.isEmpty else { return all }
    let found = all.filter { $0.testDescription == name }
    if found.isEmpty {
      fatalError("There is no command \(name). These are tried: \(all.map(\.testDescription).joined(separator: ", "))")
    }
    return found
  }()

  /// Copies the hub's files, like a snapshot of its machine.
  static let copyHub = ["bash", "-c", "mkdir copy; cp -a hub office.sqlite copy"]
  static let putBackHub = ["bash", "-c", "rm -r hub office.sqlite; cp -a copy/. .; rm -r copy"]
  private static let backup = ["bash", "-c", "satchel-hub -C hub backup HERE/monday.satchel; cp -a hub/keys safe"]
  func words(in world: CrashFixture, _ words: [String]) throws -> [String] {
    try words.map { try expanded($0, in: world) }
  }

  /// The output of `keys show`.
  private struct Shown: Decodable { let fingerprint: String }

  private func expanded(_ text: String, in world: CrashFixture) throws -> String {
    if text == "CONFLICT" {
      return try StockTool.sqlite3("office.sqlite", "SELECT id FROM satchel_conflicts", in: world.folder.path).lines[0]
    }
    var text = text
    if text.contains("FINGERPRINT") {
      let shown = try world.run("satchel", "-C", "second", "keys", "show", "--json").text
      let key = try JSONDecoder().decode(Shown.self, from: Data(shown.utf8))
      text = text.replacingOccurrences(of: "FINGERPRINT", with: key.fingerprint)
    }
    if text.contains("HUBPRINT") {
      let shown = try world.run("satchel-hub", "-C", "hub", "status", "--json").text
      let key = try JSONDecoder().decode(Shown.self, from: Data(shown.utf8))
      text = text.replacingOccurrences(of: "HUBPRINT", with: key.fingerprint)
    }
    return text.replacingOccurrences(of: "STICK", with: world.folder("stick")).replacingOccurrences(
      of: "HERE/", with: "\(world.folder.path)/")
  }

  /// Both sides continue. Expects that nothing was lost, doubled or left behind.
  func finish(_ world: CrashFixture) throws {
    if let then { try world.shell(expanded(then, in: world)) }
    try world.finish(conflicts: conflicts)
  }

  /// A fixture in the state just before the command.
  func world() throws -> CrashFixture {
    let world = try CrashFixture()
    for command in before {
      let words = try words(in: world, Array(command.dropFirst()))
      if command[0] == "bash" { try world.shell(words[1]) } else { try world.run(command[0], words) }
    }
    return world
  }

  /// All system calls of the command, or `share` of them, evenly spread.
  func points(in world: CrashFixture, share: Int) throws -> [(call: String, number: Int)] {
    let copy = try CrashFixture(copyOf: world)
    let counts = try copy.counts(tool, words(in: copy, words), code: code)
    let all = CrashFixture.calls.flatMap { call in (0..<(counts[call] ?? 0)).map { (call, $0 + 1) } }
    guard all.count > share else { return all }
    return (0..<share).map { all[(2 * $0 + 1) * all.count / (2 * share)] }
  }
}

private let share = Int(ProcessInfo.processInfo.environment["SATCHEL_CRASHES"] ?? "") ?? 1

@Suite("Processes that die, and disks that fill")
struct CrashTests {
  @Test(
    "killed before any call that changes a file, a command leaves nothing that the next ones do not put right",
    arguments: CrashCase.chosen)
  func killed(at crash: CrashCase) throws {
    let world = try crash.world()
    let points = try crash.points(in: world, share: share)
    #expect(points.count >= min(share, 8))
    for (call, number) in points {
      let copy = try CrashFixture(copyOf: world)
      try copy.kill(crash.tool, crash.words(in: copy, crash.words), at: call, number)
      do { try crash.finish(copy) } catch {
        Issue.record("\(crash.testDescription) killed at \(call) \(number): \(error)")
      }
    }
    print("\(crash.testDescription): killed at \(points.count) points")
  }

  @Test(
    """
    a disk that is full, fails or cannot be written, rights that are missing, too many open files, a stick pulled \
    out: exit code 1 or 5 and a sentence, and after that all goes on
    """,
    arguments: CrashCase.chosen)
  func failing(at crash: CrashCase) throws {
    let world = try crash.world()
    let rehearsal = try CrashFixture(copyOf: world)
    let faults = try rehearsal.faults(
      crash.tool, crash.words(in: rehearsal, crash.words), code: crash.code, atEachCall: share > 100)
    #expect(faults.count >= 5)
    for fault in faults {
      let copy = try CrashFixture(copyOf: world)
      let before = try copy.contents()
      let result = try copy.fail(
        crash.tool, crash.words(in: copy, crash.words), at: fault.call, fault.number, with: fault.error)
      // A failure after the last important step, or during cleaning up, need not be reported.
      #expect([crash.code, 1, 5].contains(result.status), "\(fault): \(result.status) \(result.complaint)")
      // The message must say what failed and where, and what to do next.
      if result.status != crash.code {
        #expect(result.complaint.split(separator: "\n").count >= 2, "\(fault): \(result.complaint)")
      }
      if result.status == 1, try copy.contents() == before { continue }
      do { try crash.finish(copy) } catch { Issue.record("\(crash.testDescription) with \(fault): \(error)") }
    }
    print("\(crash.testDescription): \(faults.count) failures")
  }
}
