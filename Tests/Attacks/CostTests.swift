import SatchelDataset
import SatchelHub
import SatchelPlatform
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Twice as many lines cost twice the time, whatever their signer puts together.
@Suite("Cost by what was sent", .serialized)
struct CostTests {
  /// The content that fills a bundle.
  enum Filling: String, CaseIterable, CustomTestStringConvertible {
    case rows, steps, deletes, orphans, chain, chainUpdates, values, takenKeys, orphansOfTakenKeys, forbidden
    case hiddenParent, countedInserts
    case chainOfKeys, besideHeld, takenValues, renames, reports, reportsOfRow, reportsOfUnit
    case conflictsOfRow, conflictsOfWholeRow, conflictsOfUnits, conflictsOfLostRow, settledConflictsOfRow
    case refusedUnits, unitsBelowKeptOut, lateTree
    case decisions, fileNames, sharedFile, files, versions, receipts
    case keptDecisions, keptDeletes, keptWithChildren, untypedKeys, failedDeletes, families
    case caselessValues, caselessChain, caselessDeletes, heldCaseless, expressions, untrueValues
    case heldSteps, heldAgain, heldDeletes, heldUnits, lateDeletes, keptAgain, backAndForth, caselessTree

    var testDescription: String { rawValue }

    /// The fillings that this run measures: all of them, or the filling in SATCHEL_FILLING.
    static let chosen: [Filling] = {
      guard let name = getenv("SATCHEL_FILLING").map({ String(cString: $0) }) else { return allCases }
      return allCases.filter { $0.rawValue == name }
    }()
  }

  /// The numbers of lines that are compared. Without optimisation a line takes several times as long.
  #if DEBUG
    private static let counts = [250, 500, 1_000, 2_000]
  #else
    private static let counts = [1_000, 2_000, 4_000, 8_000]
  #endif

  @Test(
    "of each kind of line, eight times as many take no more than sixteen times as long", arguments: Filling.chosen)
  func lines(_ filling: Filling) async throws {
    var measured: [String] = []
    // Another process may disturb a measurement, but not each of them.
    for _ in 0..<3 {
      let times = try await Self.times(of: filling)
      measured.append(zip(Self.counts, times).map { "\($0): \($1) ms" }.joined(separator: ", "))
      if Self.growInProportion(times) {
        if getenv("SATCHEL_TIMES") != nil { print("\(filling): \(measured)") }
        return
      }
      // Nothing disturbs a longer measurement that much.
      if times[0] > 100, times[3] > 48 * times[0] { break }
    }
    Issue.record("\(filling): \(measured.joined(separator: "; "))")
  }

  /// The time for each number of lines. It leaves out the cost that every bundle has, however small it is.
  ///
  /// The largest bundle takes about as long as the others together. So it is measured at the same time, on another
  /// core.
  private static func times(of filling: Filling) async throws -> [Int64] {
    async let largest = milliseconds(toTake: counts[3], of: filling)
    let least = try milliseconds(toTake: 1, of: filling)
    let smaller = try counts.dropLast().map { try milliseconds(toTake: $0, of: filling) }
    let all = try await smaller + [largest]
    return all.map { $0 - least }
  }

  /// Whether eight times as many lines take at most sixteen times as long, and twice as many at most three and a half
  /// times as long. By the square they would take 64 times, and four times as long. Some milliseconds are for what
  /// disturbs a measurement.
  private static func growInProportion(_ times: [Int64]) -> Bool {
    times[3] <= 16 * (times[0] + 10) && zip(times, times.dropFirst()).allSatisfy { 2 * $1 <= 7 * ($0 + 10) }
  }

  /// The time of the processor, in this thread.
  private static func milliseconds(toTake count: Int, of filling: Filling) throws -> Int64 {
    let yard = try CostFixture()
    let file = try yard.file(of: count, filling)
    let before = threadMilliseconds()
    _ = try yard.hub.importBundle(file)
    // Each bundle looks at waiting changes again, and an emission asks about all rows.
    yard.tick()
    _ = try yard.hub.importBundle(yard.other.export().file)
    _ = try yard.hub.emit(to: "other")
    // A person decides everything at once.
    let policy: Policy? =
      switch filling {
      case .takenValues: .hub
      case .conflictsOfLostRow: .device
      default: nil
      }
    if let policy {
      let decided = try yard.hub.resolveAll(policy, table: nil, note: nil)
      #expect(decided.resolved.count == count)
      #expect(decided.left.isEmpty)
    }
    return threadMilliseconds() - before
  }

  private static func threadMilliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
