import Foundation
import SatchelSQLite
import SatchelValues
import Testing

/// Applies rows to the table `t`. The tables `t` and `other` are tracked.
private func apply(
  _ schema: String, _ write: String = "INSERT INTO \"t\" VALUES (1, 'a')", in path: String = ":memory:"
) throws -> Database {
  let database = try Database(path: path, mode: .create)
  try database.execute(
    """
    CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE other (x); CREATE TABLE derived (x);
    CREATE TABLE satchel_before_t (x); CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT);
    \(schema)
    """)
  try database.applyTransaction(to: ["t", "other"]) { try database.execute(write) }
  return database
}

private func text(_ database: borrowing Database, _ query: String) throws -> String {
  try database.all(query) { $0.text(0) }.joined(separator: " ")
}

private let keeping = "CREATE TRIGGER k AFTER INSERT ON t BEGIN INSERT INTO derived VALUES (NEW.a); END;"

@Suite("Triggers while rows are applied")
struct KeepingTriggerTests {
  @Test(
    "a trigger that maintains an untracked table fires; a trigger that writes a tracked table or Satchel's own does not"
  )
  func judged() throws {
    let database = try apply(
      """
      \(keeping)
      CREATE TRIGGER w AFTER INSERT ON t BEGIN INSERT INTO OTHER VALUES (NEW.a); END;
      CREATE TRIGGER both AFTER INSERT ON t BEGIN INSERT INTO derived VALUES ('both'); DELETE FROM other; END;
      CREATE TRIGGER "satchel_before_insert:t" BEFORE INSERT ON t BEGIN INSERT INTO satchel_before_t VALUES (NEW.a); END;
      CREATE TRIGGER s AFTER INSERT ON t BEGIN INSERT INTO sqlite_sequence VALUES ('counted', 9); END;
      CREATE TRIGGER disguised BEFORE INSERT ON t BEGIN INSERT INTO satchel_before_t VALUES (NEW.a); END;
      """)
    #expect(try text(database, "SELECT x FROM derived") == "a")
    #expect(try text(database, "SELECT x FROM other").isEmpty)
    #expect(try text(database, "SELECT x FROM satchel_before_t").isEmpty)
    #expect(try text(database, "SELECT name FROM sqlite_sequence").isEmpty)
  }

  @Test("a guard does not fire: applied rows are written as they are, and none is left out")
  func guards() throws {
    let database = try apply(
      """
      CREATE TRIGGER g BEFORE INSERT ON t BEGIN SELECT RAISE(ABORT, 'no'); END;
      CREATE TRIGGER i BEFORE INSERT ON t BEGIN INSERT INTO derived VALUES ('RAISE'); SELECT raise /* so */ ( IGNORE ); END;
      CREATE TRIGGER k AFTER INSERT ON t BEGIN INSERT INTO derived VALUES ('RAISE(IGNORE)'); END;
      """)
    #expect(try text(database, "SELECT a FROM t") == "a")
    #expect(try text(database, "SELECT x FROM derived") == "RAISE(IGNORE)")
  }

  @Test("of triggers that set each other off, each is judged by what its own body writes")
  func nested() throws {
    let database = try apply(
      """
      \(keeping)
      CREATE TABLE further (x);
      CREATE TRIGGER d1 AFTER INSERT ON derived BEGIN INSERT INTO other VALUES (NEW.x); END;
      CREATE TRIGGER d2 AFTER INSERT ON derived BEGIN INSERT INTO further VALUES (NEW.x || '!'); END;
      """)
    #expect(try text(database, "SELECT x FROM other").isEmpty)
    #expect(try text(database, "SELECT x FROM further") == "a!")
  }

  @Test(
    "a view's triggers pass a write on where that keeps a derived table, and none where it would write a tracked one")
  func views() throws {
    let schema =
      """
      CREATE VIEW v AS SELECT x FROM derived; CREATE TRIGGER k AFTER INSERT ON t BEGIN INSERT INTO v VALUES (NEW.a); \
      END;
      """
    let kept = try apply(
      schema + "CREATE TRIGGER i INSTEAD OF INSERT ON v BEGIN INSERT INTO derived VALUES (NEW.x); END;")
    #expect(try text(kept, "SELECT x FROM derived") == "a")
    let shut = try apply(
      schema + "CREATE TRIGGER i INSTEAD OF INSERT ON v BEGIN INSERT INTO other VALUES (NEW.x); END;")
    #expect(try text(shut, "SELECT x FROM other").isEmpty)
    #expect(try text(shut, "SELECT a FROM t") == "a")
  }

  @Test("the app's triggers are as they were afterwards, and fire once for the next writer", arguments: [false, true])
  func afterwards(failing: Bool) throws {
    let database = try apply(
      keeping + "CREATE TRIGGER w AFTER INSERT ON t BEGIN INSERT INTO other VALUES (NEW.a); END;")
    let before = try text(database, "SELECT sql FROM sqlite_schema ORDER BY rowid")
    struct Stop: Error {}
    do {
      try database.applyTransaction(.dryRun, to: ["t", "other"]) {
        try database.execute("INSERT INTO t VALUES (2, 'b')")
        #expect(try text(database, "SELECT x FROM derived") == "a b")
        if failing { throw Stop() }
      }
    } catch is Stop { #expect(failing) }
    #expect(try text(database, "SELECT sql FROM sqlite_schema ORDER BY rowid") == before)
    #expect(try text(database, "SELECT name FROM sqlite_temp_schema").isEmpty)
    #expect(try text(database, "SELECT x FROM derived") == "a")
    try database.execute("INSERT INTO t VALUES (3, 'c')")
    #expect(try text(database, "SELECT x FROM derived") == "a c")
    #expect(try text(database, "SELECT x FROM other") == "c")
  }

  @Test("names that need quotes, comments and conditions come through, in each event")
  func spelling() throws {
    let database = try apply(
      """
      create trigger if not exists main."k""1" /* CREATE TRIGGER */ after insert on "t" when NEW.a is not null
        begin insert into derived values ('in'); end;
      CREATE TRIGGER 'k 2' AFTER UPDATE OF a ON [t] -- END
        BEGIN UPDATE derived SET x = x || OLD.a || NEW.a; END;
      CREATE TRIGGER `k3` BEFORE DELETE ON t BEGIN INSERT INTO derived VALUES (OLD.a); END;
      """, "INSERT INTO t VALUES (1, 'a'); UPDATE t SET a = 'b'; DELETE FROM t")
    #expect(try text(database, "SELECT x FROM derived") == "inab b")
  }

  @Test(
    "a function that only the app has is no trouble where its trigger sleeps, and is named where the trigger must fire")
  func functions() throws {
    let asleep = try apply(
      """
      CREATE TRIGGER w AFTER INSERT ON t WHEN theirs(NEW.a) BEGIN INSERT INTO other VALUES (also(NEW.a, 1)); END;
      CREATE TRIGGER g BEFORE INSERT ON t BEGIN SELECT RAISE(ABORT, 'no') WHERE theirs(NEW.a); END;
      """)
    #expect(try text(asleep, "SELECT a FROM t") == "a")
    // The substitutes for the app's functions have been removed.
    #expect(throws: SQLiteError.self) { try asleep.execute("SELECT theirs(1)") }

    #expect {
      _ = try apply("CREATE TRIGGER k AFTER INSERT ON t BEGIN INSERT INTO derived VALUES (theirs(NEW.a)); END;")
    } throws: {
      let error = $0 as? TriggerError
      return error?.hint != nil
        && error?.message == "A row could not be written to the table t, with its triggers k: no such function: theirs."
    }
    // If no row of `t` is applied, the trigger causes no error.
    let other = try apply(
      "CREATE TRIGGER k AFTER INSERT ON t BEGIN INSERT INTO derived VALUES (theirs(NEW.a)); END;",
      "INSERT INTO other VALUES ('1')")
    #expect(try text(other, "SELECT x FROM other") == "1")
  }

  @Test("a trigger that no connection could run is reported by its name")
  func broken() throws {
    #expect {
      _ = try apply("CREATE TRIGGER k AFTER DELETE ON t BEGIN INSERT INTO nowhere VALUES (1); END;")
    } throws: {
      ($0 as? TriggerError)?.message == "The trigger k of the table t cannot run here: no such table: main.nowhere."
    }
  }

  @Test("a trigger that fails while it fires is reported with its table, and the rows are as before")
  func failing() throws {
    let scratch = try Scratch()
    #expect {
      _ = try apply(
        "CREATE UNIQUE INDEX u ON derived (x); \(keeping)", "INSERT INTO \"t\" VALUES (1, 'a'), (2, 'a')",
        in: scratch.path)
    } throws: {
      ($0 as? TriggerError)?.message
        == "A row could not be written to the table t, with its triggers k: UNIQUE constraint failed: derived.x."
    }
    #expect(try text(scratch.open(), "SELECT a FROM t").isEmpty)
  }

  @Test("a trigger that another program made since the last time is seen")
  func madeSince() throws {
    let scratch = try Scratch()
    let database = try scratch.open()
    try database.execute("CREATE TABLE t (a); CREATE TABLE derived (x)")
    try database.applyTransaction(to: ["t"]) { try database.execute("INSERT INTO t VALUES ('a')") }
    try scratch.open().execute("CREATE TRIGGER k AFTER INSERT ON t BEGIN INSERT INTO derived VALUES (NEW.a); END")
    try database.applyTransaction(to: ["t"]) { try database.execute("INSERT INTO t VALUES ('b')") }
    #expect(try text(database, "SELECT x FROM derived") == "b")
  }

  /// The other program commits while this connection reads the triggers, or just before or after that. The result must
  /// be the same.
  @Test("a trigger that another program makes at the last moment is seen")
  func lastMoment() throws {
    let scratch = try Scratch()
    let database = try scratch.open()
    try database.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a); CREATE TABLE derived (x)")
    try database.execute("CREATE TRIGGER k0 AFTER INSERT ON t BEGIN INSERT INTO derived VALUES (0); END")
    let path = scratch.path
    for round in 1...50 {
      let (isReady, go, isDone) = (
        DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
      )
      Thread.detachNewThread {
        defer { isDone.signal() }
        guard let other = try? Database(path: path, mode: .readWrite) else {
          isReady.signal()
          return
        }
        let sql =
          "BEGIN IMMEDIATE; CREATE TRIGGER k\(round) AFTER INSERT ON t BEGIN INSERT INTO derived VALUES (\(round)); END"
        try? other.execute(sql)
        isReady.signal()
        go.wait()
        try? other.execute("COMMIT")
      }
      isReady.wait()
      go.signal()
      // The other program holds the write lock. So this transaction begins only after the other program's trigger
      // exists.
      try database.applyTransaction(to: ["t"]) {
        try database.execute("DELETE FROM derived; INSERT INTO t VALUES ('a')")
      }
      isDone.wait()
      #expect(try database.all("SELECT x FROM derived ORDER BY x") { $0.integer(0) } == Array(0...Int64(round)))
    }
  }

  @Test("a trigger of a schema that is not trusted may call the geometry functions")
  func untrustedSchema() throws {
    let after = try apply(
      """
      PRAGMA trusted_schema = OFF; CREATE TRIGGER k AFTER INSERT ON t WHEN ST_IsEmpty(NEW.a) IS NULL BEGIN INSERT \
      INTO derived VALUES ('none'); END;
      """
    )
    try after.execute("INSERT INTO t VALUES (2, 'b')")
    #expect(try text(after, "SELECT x FROM derived") == "none none")
  }
}
