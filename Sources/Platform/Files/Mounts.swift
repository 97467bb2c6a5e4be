/// A mounted file system.
public struct Mount: Hashable, Sendable {
  /// Unique among present mounts. If a file system is mounted again at the same path, its id changes.
  public let id: String
  /// Its path, absolute.
  public let path: String
}

extension FileSystem {
  /// The mounted file systems, in the order in which they were mounted; empty if the kernel does not list them.
  public func mounts() throws(PlatformError) -> [Mount] {
    let path = "/proc/self/mountinfo"
    return try kind(path) == .file ? Mount.list(try read(path, limit: 1 << 20)) : []
  }
}

extension Mount {
  /// Reads the kernel's list, in the form of proc_pid_mountinfo(5).
  package static func list(_ text: [UInt8]) -> [Mount] {
    text.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count > 4 else { return nil }
      let (number, device) = (String(decoding: fields[0], as: UTF8.self), String(decoding: fields[2], as: UTF8.self))
      return Mount(id: "\(number) \(device)", path: String(decoding: unescaped(fields[4]), as: UTF8.self))
    }
  }
}

/// The kernel writes spaces, line feeds and backslashes in a path as `\040`.
private func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
  var bytes: [UInt8] = []
  var rest = field
  while let byte = rest.popFirst() {
    let digits = rest.prefix(3)
    guard byte == UInt8(ascii: "\\"), digits.count == 3, digits.allSatisfy({ (48...55).contains($0) }) else {
      bytes.append(byte)
      continue
    }
    bytes.append(digits.reduce(0) { $0 &* 8 &+ ($1 - 48) })
    rest = rest.dropFirst(3)
  }
  return bytes
}
