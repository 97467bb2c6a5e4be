import SatchelPlatform

/// A medium that is plugged in.
struct PluggedStick {
  let path: String
  /// The mount and the size. This text changes if another medium is mounted at the same path later.
  let mark: String
  /// The free bytes; nil: the medium cannot be read.
  let free: Int64?
  /// Whether `sync` has used the stick before.
  let isUsed: Bool

  /// The name that people see on their desktop: the last part of the path.
  var label: String { Paths.name(of: path) }

  /// The removable media that this machine has mounted, by their paths.
  static func all(_ platform: Platform) throws -> [PluggedStick] {
    let mounts = (try? platform.files.mounts()) ?? []
    return try Set(mounts.map(\.path)).filter { try Medium(of: $0, platform.files).isRemovable }.sorted().map { path in
      // If several mounts have one path, the last mount is visible.
      let mount = mounts.last { $0.path == path }?.id ?? ""
      let size = try? platform.files.totalBytes(path)
      return PluggedStick(
        path: path, mark: "\(mount) \(size ?? 0)", free: try? platform.files.freeBytes(path),
        isUsed: (try? StickLayout(path).isUsed(platform.files)) == true)
    }
  }

  /// The removable media for the bundles of a workspace. A medium that holds the workspace does not count, because a
  /// person could carry no bundle away with it.
  static func all(besides directory: String, _ platform: Platform) throws -> [PluggedStick] {
    let workspace = try platform.files.resolved(directory)
    return try all(platform).filter { try !Medium(of: $0.path, platform.files).contains(workspace) }
  }

  /// The free room, such as `3.0 GB`; nil: the medium cannot be read.
  var freeSize: String? {
    free.map { free in
      let tenths = ((free >> 20) * 10) >> 10
      return free < 1 << 30 ? "\(free >> 20) MiB" : "\(tenths / 10).\(tenths % 10) GB"
    }
  }

  var freeWords: String { freeSize.map { "\($0) free" } ?? "it cannot be read" }
}
