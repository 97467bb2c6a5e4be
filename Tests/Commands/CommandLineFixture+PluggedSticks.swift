import Foundation
import SatchelPlatform

/// Folders of the camp that seem to be media of the machine.
extension CommandLineFixture {
  /// Makes folders of the camp seem to be media that are mounted in /media/ann. No other media are mounted.
  func plug(_ names: [String]) throws {
    var files = TroubledFiles()
    files.instead = ["/proc/self/mountinfo": path("mounts")]
    for name in names {
      try makeFolder(name)
      files.instead[path(name)] = "/media/ann/\(name)"
      // This mount only proves where the folder is. It leads to no medium of its own.
      files.instead["/media/ann/\(name)"] = "/"
    }
    platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
    try mount(names)
  }

  /// Mounts only these of the folders that `plug` named. The other ones are pulled out.
  /// - Parameter number: the number of the first mount. Another number makes each of them another mount.
  func mount(_ names: [String], from number: Int = 20) throws {
    let mounts = ["/"] + names.flatMap { [path($0), "/media/ann/\($0)"] }
    let lines = mounts.enumerated().map {
      "\($0 + number) 1 8:\($0) / \($1.replacingOccurrences(of: " ", with: "\\040")) rw - ext4 /dev/sd\($0) rw\n"
    }
    try write("mounts", lines.joined())
  }
}
