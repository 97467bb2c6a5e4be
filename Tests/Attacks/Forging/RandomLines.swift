import SatchelJSON
import TestSupport

/// Random lines that are well-formed. Their table, key, user, kind and state are chosen at random.
struct RandomLines {
  private let forger: Forger

  init(_ forger: Forger) { self.forger = forger }

  private static let tables = [
    "prices", "notes", "replies", "tasks", "visits", "trips", "kinds", "trees",
  ]

  /// The columns of each table. The first column is the key.
  static let columns: [String: [String]] = [
    "prices": ["id", "name", "tier", "cents"], "notes": ["id", "author", "pub", "body", "likes", "photo"],
    "replies": ["id", "note", "body"], "tasks": ["id", "owner", "words"], "visits": ["id", "owner"],
    "trips": ["id", "owner", "words", "km"], "kinds": ["id", "owner", "code"], "trees": ["uuid", "owner", "kind"],
  ]

  private static let keys: [String: [JSONValue]] = [
    "prices": [1, 2, 3, 4], "notes": ["n1", "n2", "n3", "n4", "n5", "n9"], "replies": ["r1", "r2", "r3", "r9"],
    "tasks": [1, 2, 3, ["integer": "9223372036854775807"]],
    "visits": [1, 2, 3, 110, 150, 250, 5_000_000, ["integer": "9223372036854775807"]], "trips": ["t1", "t2", "t9"],
    "kinds": [1, 2, 3, 4], "trees": ["u1", "u2", "u9"],
  ]

  private static let inUnits: Set<String> = ["trips", "trees"]

  private static let users: [JSONValue] = ["ann", "ben", "boss", "nobodyknows", "hub"]

  private static let kinds: [JSONValue] = [
    "update/update", "delete/update", "update/delete", "insert/insert", "unique", "foreign key", "constraint",
    "forbidden", "revoked", "unseen", "unit",
  ]

  private func value(of column: String, _ numbers: inout TreeMutator) -> JSONValue {
    switch column {
    case "author", "owner": numbers.choice(of: Self.users)
    case "note": numbers.choice(of: Self.keys["notes"] ?? [])
    case "photo": numbers.choice(of: [nil, "SECRET.jpg", "site/p5.jpg", "photos/a.jpg"])
    case "body", "name", "words": numbers.choice(of: ["mine", "x", nil])
    case "code": numbers.choice(of: ["oak", "elm", "yew", nil])
    case "kind": numbers.choice(of: [1, 2, 3, nil])
    default: numbers.choice(of: [0, 1, 9, 300])
    }
  }

  private func row(of table: String, _ key: JSONValue, _ numbers: inout TreeMutator) -> JSONValue {
    .object(
      (Self.columns[table] ?? []).map {
        .init(name: $0, value: $0 == "id" || $0 == "uuid" ? key : value(of: $0, &numbers))
      })
  }

  private func fields(of table: String, _ numbers: inout TreeMutator) -> (now: JSONValue, was: JSONValue) {
    let column = numbers.choice(of: Array((Self.columns[table] ?? []).dropFirst()))
    return (
      .object([.init(name: column, value: value(of: column, &numbers))]),
      .object([.init(name: column, value: value(of: column, &numbers))])
    )
  }

  func change(_ numbers: inout TreeMutator) -> JSONValue {
    let table = numbers.choice(of: Self.tables)
    let line = change(in: table, &numbers)
    guard numbers.number(below: Self.inUnits.contains(table) ? 2 : 20) == 0 else { return line }
    var members = line.objectValue ?? []
    members.set("unit", .integer(Int64(1 + numbers.number(below: 2))))
    return .object(members)
  }

  private func change(in table: String, _ numbers: inout TreeMutator) -> JSONValue {
    let key = numbers.choice(of: Self.keys[table] ?? [])
    switch numbers.number(below: 4) {
    case 0: return forger.insert(table, key, row(of: table, key, &numbers))
    case 1: return forger.delete(table, key, was: row(of: table, key, &numbers))
    default:
      let (now, was) = fields(of: table, &numbers)
      return forger.update(table, key, set: now, was: was)
    }
  }

  func conflict(_ numbers: inout TreeMutator) throws -> JSONValue {
    let table = numbers.choice(of: Self.tables)
    let key = numbers.choice(of: Self.keys[table] ?? [])
    var (now, was) = fields(of: table, &numbers)
    let operation = numbers.choice(of: ["insert", "update", "update", "delete"])
    if operation != "update" { (now, was) = (row(of: table, key, &numbers), row(of: table, key, &numbers)) }
    let hub = numbers.choice(of: [nil, was, row(of: table, key, &numbers)])
    return try forger.conflict(
      table, key, was: operation == "insert" ? nil : was, now: operation == "delete" ? nil : now
    ) {
      $0.set("op", .string(operation))
      $0.set("user", numbers.choice(of: Self.users))
      $0.set("kind", numbers.choice(of: Self.kinds))
      $0.set("state", numbers.choice(of: ["open", "held", "settled"]))
      $0.set("hub_values", hub)
      $0.set("winner", numbers.choice(of: ["hub", "device"]))
      if numbers.number(below: 4) == 0 {
        $0.set("unit", .string(String(repeating: numbers.choice(of: ["0a", "0b"]), count: 16)))
      }
    }
  }
}
