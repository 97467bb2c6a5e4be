import SatchelDataset
import SatchelMerge
import SatchelValues
import Testing

/// Short for a row of two columns beside its key: `r(1, 2)`.
func r(_ a: Int64, _ b: Int64) -> Row { Row([.string("k"), .integer(a), .integer(b)]) }

let schema = TableSchema(name: "items", columns: ["id", "a", "b"], key: [0], foreignKeys: [])

/// The rules of a table with this policy.
func rules(_ policy: Policy, _ rest: String = "") -> MergeRules {
  let json = """
    { "dataset": "d", "version": 1, "tables": { "items": { "conflict": "\(policy.rawValue)"\(rest) } } }
    """
  // The text is this function's own.
  let definition = try! DatasetDefinition(json: Array(json.utf8))
  return MergeRules(definition.tables[0], schema: schema)
}

/// The writes of both sides, in time's order, and the result.
struct Ordering: Sendable, CustomTestStringConvertible {
  /// The order in words: it names the test.
  let testDescription: String
  let policy: Policy
  var rest = ""
  /// The row that the device saw when it made its change; nil: no row.
  let base: Row?
  /// The hub's row now; nil: no row.
  let hub: Row?
  /// Whether the row was inserted or deleted at the hub meanwhile, if base and hub do not show it.
  var presence = false
  /// When the hub's row was changed.
  var hubAt: Int64 = 10
  /// The device's row; nil: it deleted the row.
  let mine: Row?
  /// When the device changed it.
  var mineAt: Int64 = 20

  let row: Row?
  /// nil: they do not disagree.
  var conflict: (kind: ConflictKind, state: ConflictState)?
  /// The winners of the columns a and b, as in "a hub, b device".
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

  /// The changes of others, as the hub's log has them.
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
