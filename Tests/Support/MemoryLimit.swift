import Foundation

/// The most MiB of memory that a process may have. SATCHEL_MEBIBYTES replaces the usual limit, because a sanitizer
/// needs additional memory.
public func mebibytesAllowed(usually mebibytes: Int) -> Int {
  ProcessInfo.processInfo.environment["SATCHEL_MEBIBYTES"].flatMap { Int($0) } ?? mebibytes
}
