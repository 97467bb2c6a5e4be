import Foundation

/// Runs every measurement and prints its table. `QUICK` set to 1 measures less, in two minutes; `ONLY` names a part: capture, cycle, scope, memory.
func runBench() async throws {
  let isQuick = ProcessInfo.processInfo.environment["QUICK"] == "1"
  print("Times of one machine in one run: compare within a table, do not quote.")
  let only = ProcessInfo.processInfo.environment["ONLY"] ?? ""
  if only.isEmpty || only == "capture" { try measureCaptureCost(isQuick: isQuick) }
  if only.isEmpty || only == "cycle" { try measureCycleCost(isQuick: isQuick) }
  if only.isEmpty || only == "scope" { try measureScopeCost(isQuick: isQuick) }
  if only.isEmpty || only == "memory" { try measureMemoryCost(isQuick: isQuick) }
}

/// What one repetition took, in seconds.
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

/// Prints lines whose columns stand below each other, the first to the left and the others to the right.
func printTable(_ lines: [[String]]) {
  let widths = (lines.first ?? []).indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
  for line in lines {
    let cells = line.enumerated().map { column, cell in
      let room = String(repeating: " ", count: widths[column] - cell.count)
      return column == 0 ? cell + room : room + cell
    }
    print(cells.joined(separator: "  "))
  }
}

func decimal(_ value: Double, _ places: Int) -> String { String(format: "%.\(places)f", value) }
