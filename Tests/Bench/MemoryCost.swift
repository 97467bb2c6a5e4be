import Foundation

/// The most memory that a command takes where everything that there is goes through it at once. It must not grow with the rows.
func measureMemoryCost(isQuick: Bool) throws {
  let rows = isQuick ? 100_000 : 1_000_000
  let cost = try CycleCost(visits: rows, rounds: 1)
  defer { try? FileManager.default.removeItem(atPath: cost.root) }
  print("\nPeak memory in MiB, \(rows) rows")
  var lines = [["what", "memory", "limit", ""]]
  func add(_ what: String, _ words: String) throws {
    let (peak, limit) = (try cost.memory(words), 128.0)
    lines.append([what, decimal(peak, 0), decimal(limit, 0), peak <= limit ? "" : "over"])
  }
  try cost.change(rows)
  try add("export of \(rows) changed rows", "satchel -C tablet export")
  try cost.bash("cp tablet/bundles/outbox/*.satchel carried.satchel")
  try add("hub import of \(rows) changed rows", "satchel-hub -C hub import \"$PWD/carried.satchel\"")
  try cost.bash("sqlite3 office.sqlite \"UPDATE visits SET state = 'seen'\"")
  try add("emit of \(rows) changed rows", "satchel-hub -C hub emit --device tablet")
  try cost.bash("cp $(ls -t hub/bundles/outbox/*.satchel | head -1) back.satchel")
  try add("device import of \(rows) changed rows", "satchel -C tablet import \"$PWD/back.satchel\"")
  try add("emit of \(rows) rows in full", "satchel-hub -C hub emit --device tablet --full")
  printTable(lines)
}
