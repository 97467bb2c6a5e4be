import SatchelCapture
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

@Suite("References to a column of another type")
struct ReferenceTypeTests {
  private let folder: TemporaryFolder
  private let store: HubStore
  private let ann = User(name: "ann", attributes: [Field("tier", .integer(3))])

  init() throws {
    folder = try TemporaryFolder()
    let database = try Database(path: folder("data.sqlite"), mode: .create)
    try database.execute(
      """
      CREATE TABLE plots (id TEXT PRIMARY KEY, tier INTEGER, near INTEGER REFERENCES plots);
      CREATE TABLE spots (id INTEGER PRIMARY KEY, plot INTEGER REFERENCES plots);
      INSERT INTO plots VALUES ('1', 9, NULL), ('01', 1, NULL), ('2', 1, 1);
      INSERT INTO spots VALUES (1, 1);
      """)
    store = try HubStore.make(
      of: database, at: folder("data.sqlite"),
      """
      { "dataset": "d", "version": 1, "attributes": { "tier": "integer" },
        "tables": { "plots": { "visible": "tier <= :tier" }, "spots": {} } }
      """)
  }

  private func sees(_ key: Value, in table: Name) throws -> Bool {
    let place = try #require(store.place(of: table))
    return try store.writeTransaction(.commit) {
      try ScopeStore(store, user: ann).maySee(RowKey([key]), in: place)
    }
  }

  @Test("a row below a hidden row is hidden, also if the key of a visible row is the same number")
  func sameNumber() throws {
    #expect(try sees(.string("01"), in: "plots"))
    #expect(try !sees(.string("1"), in: "plots"))
    #expect(try !sees(.integer(1), in: "spots"))
    #expect(try !sees(.string("2"), in: "plots"))
  }
}
