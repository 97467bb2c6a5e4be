/// A mounted file system.
public struct Mount: Hashable, Sendable {
  /// The id of the mount, unique among the present mounts. It changes if a file system is mounted again at the same
  /// path.
  public let id: String
  /// The absolute path at which the file system is mounted.
  public let path: String
  /// The type of the file system, for example `vfat`; empty if it is not known.
  public let type: String
}

extension FileSystem {
  /// The mounted file systems in the order of their mounts; empty if the kernel has no list.
  public func mounts() throws(PlatformError) -> [Mount] {
    let path = "/proc/self/mountinfo"
    return try kind(path) == .file ? Mount.list(try read(path, limit: 64 << 20)) : []
  }

  /// The absolute paths in `/etc/fstab`; empty if there is no such file.
  public func plannedMounts() throws(PlatformError) -> [String] {
    // On some systems this path is a link to another file.
    let path = try resolved("/etc/fstab")
    return try kind(path) == .file ? Mount.planned(try read(path, limit: 1 << 20)) : []
  }
}

extension Mount {
  /// Parses the kernel's list of mounts, which proc_pid_mountinfo(5) describes.
  package static func list(_ text: [UInt8]) -> [Mount] {
    text.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count > 4 else { return nil }
      let (number, device) = (String(decoding: fields[0], as: UTF8.self), String(decoding: fields[2], as: UTF8.self))
      // A hyphen ends the optional fields. The type follows it.
      let type = fields.dropFirst(5).drop { $0 != [UInt8(ascii: "-")] }.dropFirst().first ?? []
      return Mount(
        id: "\(number) \(device)", path: String(decoding: unescaped(fields[4]), as: UTF8.self),
        type: String(decoding: type, as: UTF8.self))
    }
  }

  /// Parses the paths in the administrator's list, which fstab(5) describes.
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

/// The bytes of a path in the kernel's list. The kernel writes a space as `\040`, and some other characters in the
/// same way.
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
