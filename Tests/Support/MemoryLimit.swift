import Foundation

/// The most MiB of memory that a process may have: as many as usual, or SATCHEL_MEBIBYTES, because a sanitizer needs
/// additional memory.
public func mebibytesAllowed(usually mebibytes: Int) -> Int {
  ProcessInfo.processInfo.environment["SATCHEL_MEBIBYTES"].flatMap { Int($0) } ?? mebibytes
}
