/// A mounted file system.
public struct Mount: Hashable, Sendable {
  /// The id, which is unique among the present mounts. If a file system is mounted again at the same path, the id
  /// changes.
  public let id: String
  /// The absolute path at which the file system is mounted.
  public let path: String
  /// The type of the file system, such as `vfat`; empty if it is not known.
  public let type: String
}

extension FileSystem {
  /// The mounted file systems, in the order in which they were mounted; empty if the kernel does not list them.
  public func mounts() throws(PlatformError) -> [Mount] {
    let path = "/proc/self/mountinfo"
    return try kind(path) == .file ? Mount.list(try read(path, limit: 64 << 20)) : []
  }

  /// The absolute paths for mounts in this machine's list; empty if there is no list.
  public func plannedMounts() throws(PlatformError) -> [String] {
    // Some systems keep the list elsewhere, and have a link to it here.
    let path = try resolved("/etc/fstab")
    return try kind(path) == .file ? Mount.planned(try read(path, limit: 1 << 20)) : []
  }
}

extension Mount {
  /// Reads the kernel's list, in the form of proc_pid_mountinfo(5).
  package static func list(_ text: [UInt8]) -> [Mount] {
    text.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count > 4 else { return nil }
      let (number, device) = (String(decoding: fields[0], as: UTF8.self), String(decoding: fields[2], as: UTF8.self))
      // Optional fields end with a hyphen, and the type follows.
      let type = fields.dropFirst(5).drop { $0 != [UInt8(ascii: "-")] }.dropFirst().first ?? []
      return Mount(
        id: "\(number) \(device)", path: String(decoding: unescaped(fields[4]), as: UTF8.self),
        type: String(decoding: type, as: UTF8.self))
    }
  }

  /// Reads the paths in the administrator's list, in the form of fstab(5).
  package static func planned(_ text: [UInt8]) -> [String] {
    text.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      guard fields.count > 1, fields[0].first != UInt8(ascii: "#"), fields[1].first == UInt8(ascii: "/") else {
        return nil
      }
      let path = unescaped(fields[1])
      let end = path.lastIndex { $0 != UInt8(ascii: "/") } ?? path.startIndex
      return String(decoding: path[...end], as: UTF8.self)
    }
  }
}

/// The bytes of a path in the kernel's list. The kernel writes a space as `\040`, and some other characters in the same
/// form.
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
