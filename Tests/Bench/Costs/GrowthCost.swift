/// Measures the cost of 1,000 changes for several numbers of existing rows.
func measureGrowthCost(_ hubs: SurveyHubs, isQuick: Bool) throws {
  let sizes = isQuick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000]
  let costs = try sizes.map { try hubs.hub(visits: $0).growth() }
  print("\nGrowth: seconds for 1,000 changes by the number of existing visits, medians of 5")
  let heads = ["what"] + sizes.map { "\($0)" } + ["ratio", "limit", ""]
  var lines = [heads]
  for (place, (name, limit)) in [("export", 3.0), ("hub import", 5), ("emit", 3), ("device import", 5)].enumerated() {
    let times = costs.map { $0[place].seconds }
    let ratio = times[times.count - 1] / times[0]
    lines.append(
      [name] + times.map { decimal($0, 3) } + [
        decimal(ratio, 2), decimal(limit, 1), Comparison.verdict(ratio <= limit),
      ])
  }
  for (place, name) in ["export", "hub import", "emit", "device import"].enumerated() {
    let peaks = costs.map { $0[place].memory }
    let most = peaks.max() ?? .nan
    lines.append(
      ["  memory of \(name), MiB"] + peaks.map { decimal($0, 0) } + ["", "64", Comparison.verdict(most <= 64)])
  }
  printTable(lines)
}

extension SurveyHub {
  /// The seconds and the memory of an export, a hub import, an emission and a device import. Each has 1,000 changes.
  fileprivate func growth() throws -> [(seconds: Double, memory: Double)] {
    var costs: [[(seconds: Double, memory: Double)]] = [[], [], [], []]
    for _ in 0..<5 {
      try changeOnTablet(1000)
      costs[0].append(try export())
      costs[1].append(try hubImport())
      try changeAtOffice(1000)
      costs[2].append(try emit())
      costs[3].append(try deviceImport())
    }
    return costs.map { (median($0.map(\.seconds)), median($0.map(\.memory))) }
  }
}
