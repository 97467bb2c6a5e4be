import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

@Suite("A row, and what a user may do with it")
struct FoundRowTests {
  let folder: TemporaryFolder
  let store: HubStore

  /// Makes rows with misleading names. The results of their rules are true, false, NULL or numbers.
  init() throws {
    folder = try TemporaryFolder()
    let database = try Database(path: folder("data.sqlite"), mode: .create)
    try database.execute(
      """
      CREATE TABLE notes (id INTEGER PRIMARY KEY, "true" INTEGER, "false" INTEGER, level, words TEXT);
      INSERT INTO notes VALUES (1, 0, 1, 0, 'none'), (2, 1, 0, 1, 'see'), (3, 0, 0, 2, 'write'), (4, NULL, NULL, NULL, 'null'), (5, 5, 5, 2.5, 'real');
      CREATE TABLE texts (id TEXT COLLATE NOCASE PRIMARY KEY, "true");
      INSERT INTO texts VALUES ('a', 0), ('1', 1), ('N', 1);
      """)
    store = try HubStore.make(
      of: database, at: folder("data.sqlite"),
      """
      { "dataset": "d", "version": 1, "tables": {
          "notes": { "visible": "level", "write": "level >= 2" }, "texts": { "visible": "id <> 'N'" } } }
      """)
  }

  @Test("the answer found with the row is the answer of the rules")
  func rights() throws {
    let scope = ScopeStore(store, user: User(name: "ann", attributes: []))
    for (place, keys) in [(1...5).map { Value.integer($0) }, ["a", "1", "N"].map { Value.string($0) }].enumerated() {
      let place = try #require(store.place(of: place == 0 ? "notes" : "texts"))
      for key in keys.map({ RowKey([$0]) }) {
        let found = try #require(try scope.find(key, in: place))
        #expect(try found.row == store.rows[place].row(key))
        #expect(try found.maySee == scope.maySee(key, in: place), "\(key)")
        #expect(try found.mayWrite == scope.mayWrite(key, in: place), "\(key)")
      }
    }
    let notes = try #require(store.place(of: "notes"))
    let seen = try (1...5).map { try scope.find(RowKey([.integer($0)]), in: notes).map { [$0.maySee, $0.mayWrite] } }
    #expect(seen == [[false, false], [true, false], [true, true], [false, false], [true, true]])
  }

  @Test("a key is found by its own bytes, and a number however it is spelled")
  func keys() throws {
    let scope = ScopeStore(store, user: User(name: "ann", attributes: []))
    let (notes, texts) = (try #require(store.place(of: "notes")), try #require(store.place(of: "texts")))
    for key in [Value.string("1"), .real(1.5), .blob([0x31]), .null] {
      #expect(try scope.find(RowKey([key]), in: notes) == nil)
    }
    #expect(try scope.find(RowKey([.real(1)]), in: notes)?.row == scope.find(RowKey([.integer(1)]), in: notes)?.row)
    for key in [Value.integer(1), .string("A"), .string("n"), .blob([0x61])] {
      #expect(try scope.find(RowKey([key]), in: texts) == nil)
    }
  }

  @Test("a row whose key the column's type would change is refused, and none is left")
  func changedKeys() throws {
    let (notes, texts) = (try #require(store.place(of: "notes")), try #require(store.place(of: "texts")))
    for (place, key) in [(notes, Value.string("9")), (texts, .integer(9)), (texts, .real(9.5))] {
      let row = Row([key] + store.rows[place].schema.columns.dropFirst().map { _ in .null })
      #expect { try store.rows[place].write(row, over: nil, key: RowKey([key])) } throws: { error in
        (error as? SQLiteError)?.kind == .constraint
      }
    }
    #expect(try store.tables[notes].count(in: store.database) == 5)
    #expect(try store.tables[texts].count(in: store.database) == 3)
    let spelled = Row([.real(9)] + store.rows[notes].schema.columns.dropFirst().map { _ in .null })
    try store.rows[notes].write(spelled, over: nil, key: RowKey([.real(9)]))
    #expect(try store.rows[notes].contains(RowKey([.integer(9)])))
  }
}
