import Foundation

/// The seeds of a random test. SATCHEL_HISTORIES sets their number, and SATCHEL_SEED the first seed. If only
/// SATCHEL_SEED is set, the test plays only this seed.
/// - Parameters:
///   - count: the number of seeds without these settings.
///   - share: divides SATCHEL_HISTORIES, for a slow test.
public func historySeeds(usually count: Int, share: Int = 1) -> [UInt64] {
  let environment = ProcessInfo.processInfo.environment
  let first = environment["SATCHEL_SEED"].flatMap { UInt64($0) }
  let all = environment["SATCHEL_HISTORIES"].flatMap { Int($0) }.map { $0 / share } ?? (first == nil ? count : 1)
  return (0..<UInt64(max(1, all))).map { (first ?? 0) + $0 }
}
