import SatchelHub
import SatchelJSON
import TestSupport

/// Lines about rows whose earlier changes wait at the hub, and about rows that the hub has not accepted because of
/// another row.
extension CostFixture {
  /// A smaller number of lines, for fillings in which the hub tries each change several times.
  private func part(of count: Int) -> Int { max(1, count / 4) }

  /// - Parameter numbers: the beginning of an SQL statement. It defines the table `n` with the numbers below the count.
  func prepareHeld(_ count: Int, _ filling: CostTests.Filling, _ numbers: String) throws {
    switch filling {
    case .heldSteps: try deliver(later: count) { self.waitingRow(count, inserts: 1, $0) }
    case .heldAgain: try deliver(later: count) { self.waitingRow(count, inserts: max(1, count / 2), $0) }
    case .heldDeletes:
      try deliver { forger in (0..<self.part(of: count)).map { self.link($0, forger) } }
      // These old values are untrue: they name no other row. So no row waits for another row.
      try deliver { forger in
        (0..<self.part(of: count)).map { number in
          let key = self.text("o\(number)")
          return forger.delete("links", key, was: ["id": key, "next": nil, "words": nil])
        }
      }
    case .heldUnits:
      try deliver { forger in (0..<count).map { self.crate($0, forger) } }
      try write("\(numbers) INSERT INTO crates SELECT 'h' || i, 'k' || i, NULL FROM n", in: hub.folder)
    case .lateDeletes:
      try share(
        """
        \(numbers) INSERT INTO late
        SELECT 'h' || i, CASE WHEN i > 0 THEN 'h' || (i - 1) END, NULL, 1 FROM n WHERE i < \(part(of: count))
        """)
      _ = try hub.setUser("ann", attributes: [("zone", "2")])
    case .keptWithChildren: try write("INSERT INTO boxes VALUES ('t', 'c', NULL)", in: hub.folder)
    case .keptAgain: try write("INSERT INTO stores VALUES ('t', 'c', NULL)", in: hub.folder)
    case .backAndForth: try write("UPDATE wholes SET words = 'hub' WHERE id = 'own'", in: hub.folder)
    default: break
    }
  }

  /// The lines of the bundle that is measured.
  func heldLines(_ filling: CostTests.Filling, _ count: Int, _ forger: Forger) -> [JSONValue] {
    switch filling {
    case .heldSteps, .heldDeletes, .heldUnits:
      [forger.insert("links", "gone", ["id": "gone", "next": nil, "words": nil])]
    case .heldAgain: [forger.insert("rows", "r", ["id": "r", "owner": "ann", "words": nil, "photo": nil])]
    case .lateDeletes:
      // These old values are untrue: they name no other row. So no row waits for another row.
      (0..<part(of: count)).map { number in
        let key = text("h\(number)")
        return forger.delete("late", key, was: ["id": key, "next": nil, "beside": nil, "zone": 1])
      }
    case .keptAgain: (0..<count).map { keptAgain($0, of: count, forger) }
    case .keptWithChildren: (0..<count).map { box($0, of: count, forger) }
    case .unitsBelowKeptOut:
      // Half of the conflicts are about the parent of all units.
      waitingRow(max(1, count / 2), inserts: count, forger) + (0..<count / 2).map { sack($0, of: count, forger) }
    case .backAndForth: (0..<count).map { backAndForth($0, forger) }
    case .caselessTree:
      (0..<count).map { number in
        // Each row names the row before it, but with other capital and small letters.
        let key = text("w\(number)")
        return forger.insert("twigs", key, ["id": key, "next": number > 0 ? text("W\(number - 1)") : nil])
      }
    default: []
    }
  }

  /// The same line in a later generation.
  private func later(_ line: JSONValue, _ number: Int, _ forger: Forger) -> JSONValue {
    var members = line.objectValue ?? []
    members.set("generation", .integer(forger.sequence + Int64(number)))
    return .object(members)
  }

  /// New rows with the same key, which wait for a missing row. Updates of this row follow.
  private func waitingRow(_ count: Int, inserts: Int, _ forger: Forger) -> [JSONValue] {
    (0..<count).map { number in
      if number < inserts {
        return later(forger.insert("links", "r", ["id": "r", "next": "gone", "words": nil]), number, forger)
      }
      let (set, was): (JSONValue, JSONValue) = (["words": text("\(number + 1)")], ["words": text("\(number)")])
      return later(forger.update("links", "r", set: set, was: was), number, forger)
    }
  }

  private func link(_ number: Int, _ forger: Forger) -> JSONValue {
    let key = text("o\(number)")
    return forger.insert("links", key, ["id": key, "next": text(number > 0 ? "o\(number - 1)" : "gone"), "words": nil])
  }

  /// A new row in a unit of two rows. When the row's parent comes, another row already has its UNIQUE value.
  private func crate(_ number: Int, _ forger: Forger) -> JSONValue {
    let key = text("c\(number)")
    let line = forger.insert("crates", key, ["id": key, "code": text("k\(number)"), "next": "gone"])
    var members = line.objectValue ?? []
    members.set("unit", .integer(Int64(number / 2 + 1)))
    return .object(members)
  }

  /// A new row in a unit of two rows. The first row breaks a CHECK, and the second one refers to a row that waits.
  private func sack(_ number: Int, of count: Int, _ forger: Forger) -> JSONValue {
    let (key, isFirst) = (text("k\(number)"), number.isMultiple(of: 2))
    let row: JSONValue = ["id": key, "size": isFirst ? 0 : 1, "next": isFirst ? nil : "r"]
    var members = later(forger.insert("sacks", key, row), count / 2, forger).objectValue ?? []
    members.set("unit", .integer(Int64(number / 2 + 1)))
    return .object(members)
  }

  /// A new row that another row excludes, many times. Updates of this new row follow.
  private func keptAgain(_ number: Int, of count: Int, _ forger: Forger) -> JSONValue {
    if number < max(1, count / 2) {
      return later(forger.insert("stores", "s", ["id": "s", "code": "c", "beside": nil]), number, forger)
    }
    return later(forger.update("stores", "s", set: ["beside": "t"], was: ["beside": nil]), number, forger)
  }

  /// A new row that a newer row excludes, many times. Rows that refer to this new row follow.
  private func box(_ number: Int, of count: Int, _ forger: Forger) -> JSONValue {
    let isParent = number < max(1, count / 2)
    let key = text(isParent ? "s" : "k\(number)")
    let row: JSONValue = ["id": key, "code": isParent ? "c" : nil, "beside": isParent ? nil : "s"]
    var members = later(forger.insert("boxes", key, row), number, forger).objectValue ?? []
    members.set("stamp", "0000000000010000")
    return .object(members)
  }

  /// Writes two values in turn: a value that differs from the hub's value, and the hub's value.
  private func backAndForth(_ number: Int, _ forger: Forger) -> JSONValue {
    let value = number.isMultiple(of: 2) ? "\(number + 1)" : "hub"
    let line = forger.update("wholes", "own", set: ["words": text(value)], was: ["words": text("\(number)")])
    return later(line, number, forger)
  }
}

extension CostTests.Filling {
  /// Whether `heldLines` makes the lines of this filling.
  var isAboutHeld: Bool {
    switch self {
    case .heldSteps, .heldAgain, .heldDeletes, .heldUnits, .lateDeletes, .keptAgain, .backAndForth, .caselessTree,
      .unitsBelowKeptOut, .keptWithChildren:
      true
    default: false
    }
  }
}
