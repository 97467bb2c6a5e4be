import SatchelPlatform

/// A medium that is plugged in.
struct PluggedStick {
  let path: String
  /// The free bytes; nil: the medium cannot be read.
  let free: Int64?
  /// Whether `sync` has used the stick before.
  let isUsed: Bool

  /// The name that people see on their desktop: the last part of the path.
  var label: String { Paths.name(of: path) }

  /// The removable media that this machine has mounted, by their paths.
  static func all(_ platform: Platform) throws -> [PluggedStick] {
    let paths = Set(((try? platform.files.mounts()) ?? []).map(\.path))
    return try paths.filter { try Medium(of: $0, platform.files).isRemovable }.sorted().map { path in
      PluggedStick(
        path: path, free: try? platform.files.freeBytes(path),
        isUsed: (try? StickLayout(path).isUsed(platform.files)) == true)
    }
  }

  var freeWords: String {
    guard let free else { return "it cannot be read" }
    let tenths = ((free >> 20) * 10) >> 10
    return free < 1 << 30 ? "\(free >> 20) MiB free" : "\(tenths / 10).\(tenths % 10) GB free"
  }
}
