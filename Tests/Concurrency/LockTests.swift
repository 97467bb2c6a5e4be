import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// Satchel commands run at the same time as other commands, or while an administrator has an open transaction. In
/// SQLite only one connection can write at a time. The tests show which command waits, and which command a person must
/// run again.
@Suite("Commands that meet")
struct LockTests {
  /// Starts the hub's tool, and does not wait for its end.
  private func start(_ field: Field, _ words: [String]) throws -> ChildProcess {
    try ChildProcess(builtProgram("satchel-hub"), ["-C", field.folder("hub")] + words, in: field.folder.path)
  }

  private func end(of process: ChildProcess) -> Int32 {
    _ = process.readToEnd()
    return process.wait()
  }

  private func bundle(_ field: Field) throws -> String {
    try field.device("export")
    let outbox = field.folder("tablet/bundles/outbox")
    let names = try field.folder.files.list(outbox).filter { $0.hasSuffix(".satchel") }
    return Paths.join(outbox, try #require(names.last))
  }

  /// Expects that every row arrived once, and that both sides are sound.
  private func expectWhole(_ field: Field) throws {
    #expect(try field.rows("office.sqlite", "SELECT count(*) FROM notes WHERE author = 'tablet'") == ["\(Field.rows)"])
    #expect(
      try field.rows("office.sqlite", "SELECT count(*), count(DISTINCT key) FROM satchel_log WHERE device IS NOT NULL")
        == ["\(Field.rows)|\(Field.rows)"])
    #expect(try field.hub("doctor") == "All is well.\n")
  }

  @Test("imports, an emission and a status at once: each succeeds or reports busy, and nothing is doubled")
  func atOnce() throws {
    let field = try Field(journal: "wal")
    let file = try bundle(field)
    let commands = [["import", file], ["import", file], ["emit", "--all"], ["import", file]]
    let ends = try commands.map { try start(field, $0) }.map(end)
    #expect(ends.allSatisfy { [0, 4].contains($0) }, "\(ends)")
    #expect(ends.contains(0))
    // A person runs the commands that reported "busy" again.
    for words in commands { #expect(try end(of: start(field, words)) == 0) }
    try expectWhole(field)
  }

  @Test(
    "an import waits for an administrator's transaction, and takes what was written in it into account",
    arguments: ["wal", "delete"])
  func administrator(journal: String) throws {
    let field = try Field(journal: journal)
    let file = try bundle(field)
    let administrator = try Shell(field.folder("office.sqlite"))
    try administrator.ask("BEGIN IMMEDIATE; UPDATE places SET name = 'The new one' WHERE id = 1;")
    let process = try start(field, ["import", file])
    try administrator.ask("UPDATE places SET name = 'The newest one' WHERE id = 2; COMMIT;")
    administrator.close()
    #expect(end(of: process) == 0)
    try field.hub("emit", "--all")
    let told =
      "SELECT count(*) FROM satchel_log WHERE table_name = 'places' AND operation = 'update' AND device IS NULL"
    #expect(try field.rows("office.sqlite", told) == ["2"])
    try expectWhole(field)
  }

  @Test("the lock of a killed command blocks no other command")
  func stale() throws {
    let field = try Field(journal: "wal")
    let file = try bundle(field)
    // The command is killed while it holds the lock: before its first write, or after its last write.
    for call in ["pwrite64", "/^rename"] {
      let killed = try StockTool.strace.run(
        ["-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):signal=SIGKILL:when=1"]
          + [builtProgram("satchel-hub"), "-C", field.folder("hub"), "import", file],
        in: field.folder.path)
      #expect([9, 137].contains(killed.status), "\(killed.status) \(killed.complaint)")
    }
    #expect(try field.folder.files.kind(field.folder("hub/.satchel.lock")) == .file)
    try field.hub("import", file)
    try expectWhole(field)
  }
}
