import Foundation
import SatchelPlatform

/// Folders of the fixture that look to Satchel like mounted sticks.
extension CommandLineFixture {
  /// Makes these folders look like media that are mounted in /media/ann. No other media are mounted.
  func plug(_ names: [String]) throws {
    var files = TroubledFiles()
    files.instead = ["/proc/self/mountinfo": path("mounts")]
    for name in names {
      try makeFolder(name)
      files.instead[path(name)] = "/media/ann/\(name)"
      // In the list of mounts, this path only shows that the folder is a mount point. No medium is behind it.
      files.instead["/media/ann/\(name)"] = "/"
    }
    platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
    try mount(names)
  }

  /// Changes the mounted media to these folders. `plug` must have named them. Its other folders are no longer mounted.
  /// - Parameter number: the number of the first mount. A different number means that all media are newly mounted.
  func mount(_ names: [String], from number: Int = 20) throws {
    let mounts = ["/"] + names.flatMap { [path($0), "/media/ann/\($0)"] }
    let lines = mounts.enumerated().map {
      "\($0 + number) 1 8:\($0) / \($1.replacingOccurrences(of: " ", with: "\\040")) rw - ext4 /dev/sd\($0) rw\n"
    }
    try write("mounts", lines.joined())
  }
}
