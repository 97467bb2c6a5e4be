import SatchelJSON
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

@Suite("Elements of sets that newer writes put in or took out")
struct KnownWritesTests {
  private let folder: TemporaryFolder
  private let store: HubStore
  /// The index of the column `tags` in a row.
  private let tags = 1

  init() throws {
    folder = try TemporaryFolder()
    let database = try Database(path: folder("data.sqlite"), mode: .create)
    try database.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, tags TEXT)")
    store = try HubStore.make(
      of: database, at: folder("data.sqlite"), #"{ "dataset": "d", "version": 1, "tables": { "notes": {} } }"#)
  }

  private func remember(_ elements: [JSONValue], areThere: Bool) throws {
    try store.writeTransaction(.commit) {
      try store.remember(elements, areThere: areThere, in: tags, of: 1, in: 0, at: Stamp(rawValue: 10))
    }
  }

  @Test("an element is found by its exact value, if the write is newer")
  func found() throws {
    let (there, gone): ([JSONValue], [JSONValue]) = (
      [.string("a\u{0}\"é"), .integer(1), .object([.init(name: "x", value: .real(1.5))])], [.string("c"), .null]
    )
    try remember(there + [.string("other")], areThere: true)
    try remember(gone, areThere: false)
    let asked = there + gone + [.string("d"), .string("1"), .real(1)]
    let known = try store.knownElements(among: asked, of: 1, tags, in: 0, after: Stamp(rawValue: 9))
    #expect(known.added == there && known.removed == gone, "\(known)")
    let later = try store.knownElements(among: asked, of: 1, tags, in: 0, after: Stamp(rawValue: 10))
    #expect(later.added.isEmpty && later.removed.isEmpty, "\(later)")
  }

  @Test("the elements of a change are looked up alone, however many others the row has")
  func others() throws {
    try remember((0..<3_000).map { .integer($0) }, areThere: true)
    var thousandsOfSteps = 0
    func count() -> Bool {
      thousandsOfSteps += 1
      return false
    }
    try store.database.bounded(by: count) {
      for number in Int64(0)..<100 {
        let known = try store.knownElements(
          among: [.integer(number)], of: 1, tags, in: 0, after: Stamp(rawValue: 9))
        #expect(known.added == [.integer(number)])
      }
    }
    #expect(thousandsOfSteps < 100, "\(thousandsOfSteps)")
  }
}
