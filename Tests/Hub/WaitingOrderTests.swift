import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

@Suite("The order in which waiting rows are tried")
struct WaitingOrderTests {
  /// The order for a dataset of trees, their nests, and the neighbours of nests.
  private let order: WaitingOrder

  init() throws {
    let database = try Database(path: ":memory:", mode: .create)
    try database.execute(
      """
      CREATE TABLE trees (id TEXT PRIMARY KEY, label TEXT UNIQUE, plot TEXT, number INTEGER, UNIQUE (plot, number));
      CREATE TABLE nests (
        id TEXT PRIMARY KEY, tree TEXT REFERENCES trees (id), label TEXT REFERENCES trees (label),
        near TEXT REFERENCES nests (id));
      """)
    let dataset = try DatasetDefinition(
      json: Array(#"{ "dataset": "order", "version": 1, "tables": { "trees": {}, "nests": {} } }"#.utf8))
    order = WaitingOrder(try TrackedTable.find(dataset, in: database))
  }

  private func text(_ word: String?) -> Value { word.map { .string($0) } ?? .null }

  private func tree(_ id: String, _ label: String? = nil) -> Row { Row([text(id), text(label), .null, .null]) }

  private func nest(_ id: String, on tree: String? = nil, label: String? = nil, near: String? = nil) -> Row {
    Row([text(id), text(tree), text(label), text(near)])
  }

  private func item(_ place: Int, _ key: String, _ changes: Change...) -> WaitingOrder.Item {
    .init(parts: changes.map { .init(place: place, key: RowKey([text(key)]), change: $0) })
  }

  private func sorted(_ items: [WaitingOrder.Item], _ now: [String: Row] = [:]) -> [Int] {
    order.sorted(items) { _, key in
      if case .text(let bytes)? = key.values.first { now[String(decoding: bytes, as: UTF8.self)] } else { nil }
    }
  }

  @Test("a parent comes before its children, by its key and by another column")
  func parents() {
    let items = [
      item(1, "n1", .insert(nest("n1", on: "t1"))), item(1, "n2", .insert(nest("n2", label: "red"))),
      item(0, "t2", .insert(tree("t2", "red"))), item(0, "t1", .insert(tree("t1"))),
    ]
    #expect(sorted(items) == [3, 0, 2, 1])
  }

  @Test("the delete of a child, and its change to another parent, come before the delete of the parent")
  func deletes() {
    let items = [
      item(0, "t1", .delete(was: tree("t1"))), item(1, "n1", .delete(was: nest("n1", on: "t1"))),
      item(1, "n2", .update([ColumnChange(column: 1, was: text("t1"), value: text("t2"))])),
    ]
    #expect(sorted(items) == [1, 2, 0])
  }

  @Test("a UNIQUE value is left before it is taken, also if the change says only a part of it")
  func values() {
    let labels = [
      item(0, "t1", .update([ColumnChange(column: 1, was: text("a"), value: text("b"))])),
      item(0, "t2", .update([ColumnChange(column: 1, was: text("b"), value: text("c"))])),
    ]
    #expect(sorted(labels) == [1, 0])
    let numbers = (1...3).map { number in
      item(
        0, "t\(number)",
        .update([ColumnChange(column: 3, was: .integer(Int64(number)), value: .integer(Int64(number + 1)))]))
    }
    let now = Dictionary(
      uniqueKeysWithValues: (1...3).map {
        ("t\($0)", Row([text("t\($0)"), .null, text("p"), .integer(Int64($0))]))
      })
    #expect(sorted(numbers, now) == [2, 1, 0])
  }

  @Test("rows that wait for each other, for themselves or for nothing stay as they came, each once")
  func circles() {
    let items = [
      item(1, "n1", .insert(nest("n1", near: "n2"))), item(1, "n3", .insert(nest("n3", near: "n3"))),
      item(1, "n2", .insert(nest("n2", near: "n1"))), item(0, "t1", .insert(tree("t1"))),
    ]
    #expect(sorted(items) == [2, 0, 1, 3])
  }

  @Test("what was made earlier of a row comes before, whatever its values say")
  func after() {
    var items = [
      item(0, "t1", .insert(tree("t1", "red"))), item(0, "t2", .insert(tree("t2", "blue"))),
      item(0, "t2", .delete(was: tree("t2", "red"))), item(0, "t1", .delete(was: tree("t1", "blue"))),
    ]
    items[2].after = [1]
    items[3].after = [0]
    // These changes make a circle: t1 needs the value red of t2, and the insert of t2 needs the value blue of t1.
    let order = sorted(items)
    #expect(order.firstIndex(of: 0)! < order.firstIndex(of: 3)!)
    #expect(order.firstIndex(of: 1)! < order.firstIndex(of: 2)!)
    #expect(order.sorted() == [0, 1, 2, 3])
  }

  @Test("a chain of any length in any order becomes one of parents and children, in time by its length")
  func chain() {
    // The numbers below 20,000 in a mixed order. The step of 7,919 has no divisor in common with 20,000, so each number
    // occurs once.
    let numbers = (0..<20_000).map { $0 * 7_919 % 20_000 }
    let items = numbers.map { number in
      item(1, "n\(number)", .insert(nest("n\(number)", near: number == 0 ? nil : "n\(number - 1)")))
    }
    #expect(sorted(items).map { numbers[$0] } == Array(0..<20_000))
  }
}
