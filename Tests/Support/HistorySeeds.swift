import Foundation

/// The seeds of a random test: as many as SATCHEL_HISTORIES says, from SATCHEL_SEED on. A seed alone is played alone.
/// - Parameters:
///   - count: how many seeds a test has without these settings.
///   - share: a slow test plays so many times fewer histories than SATCHEL_HISTORIES says.
public func historySeeds(usually count: Int, share: Int = 1) -> [UInt64] {
  let environment = ProcessInfo.processInfo.environment
  let first = environment["SATCHEL_SEED"].flatMap { UInt64($0) }
  let all = environment["SATCHEL_HISTORIES"].flatMap { Int($0) }.map { $0 / share } ?? (first == nil ? count : 1)
  return (0..<UInt64(max(1, all))).map { (first ?? 0) + $0 }
}
