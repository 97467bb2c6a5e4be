import TestSupport

/// The versions of a history's dataset. They change columns, rows, and the visibility rule.
struct Versions {
  private var random: SplitMix64
  private let rules: String
  private let names: RowNames
  private(set) var number = 1
  /// The divisor in the visibility rule: it hides the rows whose remainder of c belongs to the user.
  private(set) var modulus: Int64 = 3
  /// Columns that the app itself does not use.
  private var extras: [String] = []
  private var named = 0

  init(seed: UInt64, rules: String, names: RowNames) {
    random = SplitMix64(seed: seed &+ 0x7665_7273)
    self.rules = names.rule + rules
    self.names = names
  }

  var definition: String {
    """
    { "dataset": "items", "version": \(number), "prove": "always", "attributes": { "hidden": "integer" },
      "tables": { "items": { "visible": "c % \(modulus) <> :hidden", "write": "1", \(rules) } } }
    """
  }

  mutating func isDue() -> Bool { random.once(in: 12) }

  /// Begins the next version. Returns its migration; nil: the tables do not change.
  mutating func next() -> String? {
    number += 1
    if random.once(in: 3) { modulus = 7 - modulus }
    switch random.below(8) {
    case 0: return nil
    case 1, 2: return add()
    case 3: return rename()
    case 4: return replace()
    case 5: return rebuild()
    // Each device computes another number, because it has only a part of the rows.
    case 6:
      return add() + "UPDATE items SET \(extras[extras.count - 1]) = (SELECT count(*) FROM items) WHERE c % 2 = 0;"
    default:
      return random.once(in: 2)
        ? """
        UPDATE items SET a = a + 100000 WHERE b % 5 = 0; UPDATE items SET c = c + 1 WHERE (SELECT count(*) FROM \
        items) % 2 = 0;
        """
        : """
        DELETE FROM items WHERE c % 7 = 3; INSERT OR IGNORE INTO items (id, a, b, c) VALUES ('m\(number)', 1, 2, \
        \(number));
        """
    }
  }

  private mutating func newName() -> String {
    named += 1
    return "x\(named)"
  }

  private mutating func add() -> String {
    extras.append(newName())
    return "ALTER TABLE items ADD COLUMN \(extras[extras.count - 1]) INTEGER DEFAULT \(named);"
  }

  private mutating func rename() -> String {
    if extras.isEmpty { return add() }
    let place = random.below(extras.count)
    let old = extras[place]
    extras[place] = newName()
    return "ALTER TABLE items RENAME COLUMN \(old) TO \(extras[place]);"
  }

  /// Drops one column and renames another. The resulting columns alone would suggest that the dropped column was
  /// renamed.
  private mutating func replace() -> String {
    guard extras.count > 1 else { return add() }
    let gone = extras.remove(at: 0)
    let old = extras[0]
    extras[0] = newName()
    return "ALTER TABLE items DROP COLUMN \(gone); ALTER TABLE items RENAME COLUMN \(old) TO \(extras[0]);"
  }

  private mutating func rebuild() -> String {
    let extra = newName()
    let known = (["c", "a", "b"] + extras).joined(separator: ", ")
    let columns = (["c", "a", "b"] + extras).map { "\($0) INTEGER" }.joined(separator: ", ")
    extras.append(extra)
    return """
      CREATE TABLE new (\(names.columns), \(columns), \(extra) INTEGER NOT NULL DEFAULT 0);
      INSERT INTO new (\(names.list), \(known), \(extra)) SELECT \(names.list), \(known), coalesce(b, 0) % 4 FROM items;
      DROP TABLE items;
      ALTER TABLE new RENAME TO items;
      """
  }
}
