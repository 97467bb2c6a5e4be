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

    /// Whether small bundles show no square. `RetryLimit` allows 10,000 attempts even in small merges, and their cost
    /// hides another cost.
    var needsLargeBundles: Bool { [.expressions, .untrueValues, .heldDeletes, .lateDeletes].contains(self) }

    /// The fillings that this run measures: all of them, or the filling in SATCHEL_FILLING.
    static let chosen: [Filling] = {
      guard let name = getenv("SATCHEL_FILLING").map({ String(cString: $0) }) else { return allCases }
      return allCases.filter { $0.rawValue == name }
    }()
  }

  /// The sizes of the first comparison. The larger one is above `ScopeChange.fewRows`.
  private static let smallCounts = (300, 2_400)

  /// The sizes of the second comparison. Without optimisation a line takes several times as long.
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
    // Another process may disturb a measurement, but not each of them.
    for _ in 0..<3 {
      // The comparison leaves out the cost that every bundle has, however small it is.
      let least = try Self.milliseconds(toTake: 1, of: filling)
      let few = try Self.milliseconds(toTake: Self.counts.0, of: filling) - least
      let many = try Self.milliseconds(toTake: Self.counts.1, of: filling) - least
      measured.append("\(Self.counts.0): \(few) ms, \(Self.counts.1): \(many) ms")
      // By the square it would be 64 times as long. Some milliseconds are for what disturbs a measurement.
      if many <= 16 * (few + 10) {
        if getenv("SATCHEL_TIMES") != nil { print("\(filling): \(measured)") }
        return
      }
      // Nothing disturbs a longer measurement that much.
      if few > 100, many > 48 * few { break }
    }
    Issue.record("\(filling): \(measured.joined(separator: "; "))")
  }

  /// Whether small bundles already show that the time grows in proportion.
  ///
  /// They take a fifth of the time of large bundles. So this comparison allows less: the square term that it overlooks
  /// is at most as large as the square term that the comparison of large bundles overlooks. If it is in doubt, the
  /// large bundles decide.
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

  /// The time of the processor, in this thread.
  private static func microseconds(toTake count: Int, of filling: Filling) throws -> Int64 {
    let yard = try CostFixture()
    let file = try yard.file(of: count, filling)
    let before = threadMicroseconds()
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
    return threadMicroseconds() - before
  }

  private static func threadMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
