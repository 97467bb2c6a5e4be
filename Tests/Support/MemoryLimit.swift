import Foundation

/// How many MiB of memory a process may have at most: as many as usual, or as many as SATCHEL_MEBIBYTES says, since a
/// sanitizer needs memory of its own.
public func mebibytesAllowed(usually mebibytes: Int) -> Int {
  ProcessInfo.processInfo.environment["SATCHEL_MEBIBYTES"].flatMap { Int($0) } ?? mebibytes
}
