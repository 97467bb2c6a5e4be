import SatchelDataset
import SatchelMerge
import SatchelValues
import Testing

/// A row of two columns beside its key, in the short: `r(1, 2)`.
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

/// Who wrote what, in time's order, and what comes of it.
struct Ordering: Sendable, CustomTestStringConvertible {
  /// The order in words: it names the test.
  let testDescription: String
  let policy: Policy
  var rest = ""
  /// What the device saw when it made its change; nil: no row.
  let base: Row?
  /// The hub's row now; nil: no row.
  let hub: Row?
  /// Whether the row came or went at the hub meanwhile, where base and hub do not show it.
  var presence = false
  /// When the hub's row was changed.
  var hubAt: Int64 = 10
  /// What the device made of the row; nil: it deleted it.
  let mine: Row?
  /// When it did.
  var mineAt: Int64 = 20

  let row: Row?
  /// nil: they do not disagree.
  var conflict: (kind: ConflictKind, state: ConflictState)?
  /// Whose value stands in the columns a and b, as in "a hub, b device".
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

  /// What the others changed, as the hub's log tells it.
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
