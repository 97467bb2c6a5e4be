/// Measures the peak memory of commands that process all rows. It must not grow with the number of rows.
func measureMemoryCost(_ hubs: SurveyHubs, isQuick: Bool) throws {
  let rows = isQuick ? 100_000 : 1_000_000
  let hub = try hubs.hub(visits: rows)
  print("\nPeak memory in MiB, \(rows) rows, in one run each")
  var lines = [["what", "memory", "limit", ""]]
  func add(_ what: String, _ cost: (seconds: Double, memory: Double)) {
    lines.append([what, decimal(cost.memory, 0), "64", Comparison.verdict(cost.memory <= 64)])
  }
  try hub.changeOnTablet(rows)
  add("export of \(rows) changed rows", try hub.export())
  add("hub import of \(rows) changed rows", try hub.hubImport())
  try hub.changeAtOffice(rows)
  add("emit of \(rows) changed rows", try hub.emit())
  add("device import of \(rows) changed rows", try hub.deviceImport())
  add("emit of \(rows) rows in full", try hub.tool("satchel-hub -C hub emit --device tablet --full"))
  printTable(lines)
}
