import SatchelDataset
import SatchelMerge
import SatchelValues
import Testing

/// A row with a key and the two columns a and b.
func r(_ a: Int64, _ b: Int64) -> Row { Row([.string("k"), .integer(a), .integer(b)]) }

let schema = TableSchema(name: "items", columns: ["id", "a", "b"], key: [0], foreignKeys: [])

/// The rules of a table with this policy.
func rules(_ policy: Policy, _ rest: String = "") -> MergeRules {
  let json = """
    { "dataset": "d", "version": 1, "tables": { "items": { "conflict": "\(policy.rawValue)"\(rest) } } }
    """
  // This function itself writes the JSON, so parsing cannot fail.
  let definition = try! DatasetDefinition(json: Array(json.utf8))
  return MergeRules(definition.tables[0], schema: schema)
}

/// The writes of both sides in the order of time, and the expected result.
struct Ordering: Sendable, CustomTestStringConvertible {
  /// A description of the ordering, which is the name of the test.
  let testDescription: String
  let policy: Policy
  var rest = ""
  /// The row that the device had before its change; nil: it had no row.
  let base: Row?
  /// The hub's present row; nil: the hub has no row.
  let hub: Row?
  /// Whether the row was inserted or deleted at the hub meanwhile, although `base` and `hub` do not show it.
  var presence = false
  /// The time of the hub's change.
  var hubAt: Int64 = 10
  /// The device's row after its change; nil: the device deleted the row.
  let mine: Row?
  /// The time of the device's change.
  var mineAt: Int64 = 20

  let row: Row?
  /// The expected conflict; nil: the two sides do not disagree.
  var conflict: (kind: ConflictKind, state: ConflictState)?
  /// The winners of the columns a and b, for example "a hub, b device".
  var winners = ""

  init(
    _ order: String, _ policy: Policy, rest: String = "", base: Row?, hub: Row?, at hubAt: Int64 = 10,
    presence: Bool = false, mine: Row?, at mineAt: Int64 = 20, gives row: Row?,
    _ conflict: (kind: ConflictKind, state: ConflictState)? = nil, _ winners: String = ""
  ) {
    testDescription = order
    self.policy = policy
    self.rest = rest
    self.base = base
    self.hub = hub
    self.hubAt = hubAt
    self.presence = presence
    self.mine = mine
    self.mineAt = mineAt
    self.row = row
    self.conflict = conflict
    self.winners = winners
  }

  /// The changes of other writers, as the hub's log has them.
  var others: OthersChanges {
    let stamp = Stamp(hubAt)
    switch Change(from: base, to: hub) {
    case nil: return OthersChanges(presence: presence, newest: presence ? stamp : .zero)
    case .update(let changes):
      return OthersChanges(columns: Dictionary(uniqueKeysWithValues: changes.map { ($0.column, stamp) }), newest: stamp)
    case .insert, .delete:
      return OthersChanges(columns: [0: stamp, 1: stamp, 2: stamp], presence: true, newest: stamp)
    }
  }

  static func described(_ disagreement: Disagreement) -> String {
    if disagreement.winners.isEmpty { return "row \(disagreement.rowWinner.rawValue)" }
    return disagreement.winners.sorted { $0.key < $1.key }.map { "\(schema.columns[$0.key]) \($0.value.rawValue)" }
      .joined(separator: ", ")
  }
}
