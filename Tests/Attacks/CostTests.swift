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

/// If a bundle has twice as many lines, the hub needs at most about twice the time, whatever its signer writes.
@Suite("Cost by what was sent", .serialized)
struct CostTests {
  /// The kind of lines that fill a bundle.
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

    /// Whether the comparison of small bundles cannot show a quadratic cost. `RetryLimit` allows 10,000 attempts even
    /// in small merges. The cost of these attempts hides other costs.
    var needsLargeBundles: Bool { [.expressions, .untrueValues, .heldDeletes, .lateDeletes].contains(self) }

    /// The fillings that this run measures: all of them, or the filling in SATCHEL_FILLING.
    static let chosen: [Filling] = {
      guard let name = getenv("SATCHEL_FILLING").map({ String(cString: $0) }) else { return allCases }
      return allCases.filter { $0.rawValue == name }
    }()
  }

  /// The numbers of lines in the first comparison. The larger number is above `ScopeChange.fewRows`.
  private static let smallCounts = (300, 2_400)

  /// The numbers of lines in the second comparison. Without optimisation, each line takes several times as long.
  #if DEBUG
    private static let counts: (Int, Int) = (250, 2_000)
  #else
    private static let counts: (Int, Int) = (1_000, 8_000)
  #endif

  @Test(
    "of each kind of line, eight times as many take no more than sixteen times as long", arguments: Filling.chosen)
  func lines(_ filling: Filling) throws {
    if try !filling.needsLargeBundles && Self.growsInProportion(filling) { return }
    var measured: [String] = []
    // Another process may disturb one measurement, but hardly all three.
    for _ in 0..<3 {
      // The cost of a bundle with one line is subtracted, because every bundle has it.
      let least = try Self.milliseconds(toTake: 1, of: filling)
      let few = try Self.milliseconds(toTake: Self.counts.0, of: filling) - least
      let many = try Self.milliseconds(toTake: Self.counts.1, of: filling) - least
      measured.append("\(Self.counts.0): \(few) ms, \(Self.counts.1): \(many) ms")
      // If the cost were quadratic, eight times as many lines would take 64 times as long. The 10 ms allow for
      // disturbances.
      if many <= 16 * (few + 10) {
        if getenv("SATCHEL_TIMES") != nil { print("\(filling): \(measured)") }
        return
      }
      // For such long times, this difference is no disturbance.
      if few > 100, many > 48 * few { break }
    }
    Issue.record("\(filling): \(measured.joined(separator: "; "))")
  }

  /// Whether the comparison of small bundles already shows that the time grows in proportion.
  ///
  /// Small bundles take a fifth of the time of large bundles. Therefore the limit is stricter here. A quadratic cost
  /// that this comparison misses is not larger than a cost that the comparison of large bundles misses. In doubtful
  /// cases the large bundles decide.
  private static func growsInProportion(_ filling: Filling) throws -> Bool {
    for _ in 0..<2 {
      let least = try microseconds(toTake: 1, of: filling)
      let few = try microseconds(toTake: smallCounts.0, of: filling) - least
      let many = try microseconds(toTake: smallCounts.1, of: filling) - least
      if getenv("SATCHEL_TIMES") != nil {
        print("\(filling): [\"\(smallCounts.0): \(few / 1_000) ms, \(smallCounts.1): \(many / 1_000) ms\"]")
      }
      if many <= 10 * (few + 1_500) { return true }
    }
    return false
  }

  private static func milliseconds(toTake count: Int, of filling: Filling) throws -> Int64 {
    try microseconds(toTake: count, of: filling) / 1_000
  }

  /// The processor time of this thread.
  private static func microseconds(toTake count: Int, of filling: Filling) throws -> Int64 {
    let yard = try CostFixture()
    let file = try yard.file(of: count, filling)
    let before = threadMicroseconds()
    _ = try yard.hub.importBundle(file)
    // These steps are measured too: each import tries waiting changes again, and an emission examines all rows.
    yard.tick()
    _ = try yard.hub.importBundle(yard.other.export().file)
    _ = try yard.hub.emit(to: "other")
    // The measurement includes a decision about all conflicts at once.
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
    return threadMicroseconds() - before
  }

  private static func threadMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
