import Foundation

/// Runs every measurement and prints its table. If `QUICK` is 1, measures less, in two minutes. `ONLY` names the parts
/// to run, with spaces between them: start, capture, cycle, peers, growth, scope, proof, memory.
/// - Returns: whether every limit was kept.
func runBench() throws -> Bool {
  let environment = ProcessInfo.processInfo.environment
  let isQuick = environment["QUICK"] == "1"
  let only = Set((environment["ONLY"] ?? "").split(separator: " ").map(String.init))
  let (hubs, peers) = (SurveyHubs(), try Peers())
  print("Times of one machine in one run: compare within a table, do not quote.")
  print("A ratio to a peer is the median of the rounds' ratios; one of growth or scopes is that of the medians.")
  print("Peers: \(peers.words)")
  let parts: [(String, () throws -> Void)] = [
    ("start", { try measureStartCost(isQuick: isQuick) }),
    ("capture", { try measureCaptureCost(isQuick: isQuick) }),
    ("cycle", { try measureCycleCost(hubs, peers, isQuick: isQuick) }),
    ("cycle", { try measureEmissionCost(hubs, isQuick: isQuick) }),
    ("peers", { try measurePeerCost(hubs, peers, isQuick: isQuick) }),
    ("growth", { try measureGrowthCost(hubs, isQuick: isQuick) }),
    ("scope", { try measureScopeCost(hubs, isQuick: isQuick) }),
    ("proof", { try measureProofCost(hubs, isQuick: isQuick) }),
    ("memory", { try measureMemoryCost(hubs, isQuick: isQuick) }),
  ]
  for (name, measure) in parts where only.isEmpty || only.contains(name) {
    try measure()
    // Each table is printed as soon as it is measured, even if the output goes into a file.
    fflush(nil)
  }
  let tally = Comparison.tally
  print(
    """
    \nLimits: \(tally.met) met, \(tally.over) over, \(tally.missing) comparisons NOT MEASURED because a peer is \
    missing.
    """
  )
  return tally.over == 0
}

/// The time of one run of `body`, in seconds.
func seconds(_ body: () throws -> Void) rethrows -> Double {
  let clock = ContinuousClock()
  let start = clock.now
  try body()
  let (whole, atto) = (clock.now - start).components
  return Double(whole) + Double(atto) * 1e-18
}

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

/// Prints lines as columns. The first column and the column of names are aligned to the left, and the others to the
/// right.
func printTable(_ lines: [[String]]) {
  let widths = (lines.first ?? []).indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
  for line in lines {
    let cells = line.enumerated().map { column, cell in
      let room = String(repeating: " ", count: widths[column] - cell.count)
      return column == 0 || lines[0][column] == "against" ? cell + room : room + cell
    }
    print(cells.joined(separator: "  "))
  }
}

func decimal(_ value: Double, _ places: Int) -> String { String(format: "%.\(places)f", value) }
