/// The doors to the world that the rooms above may use: a test passes other ones and so holds the world still.
public struct Platform: Sendable {
  public var files: any FileSystem
  public let clock: any WallClock
  public let random: any RandomSource
  /// Who wants to know how far a command is; nil: nobody.
  public var progress: (any ProgressObserver)?

  public init(files: any FileSystem, clock: any WallClock, random: any RandomSource) {
    self.files = files
    self.clock = clock
    self.random = random
  }

  /// The machine's own files, clock and randomness.
  public static var real: Platform {
    Platform(files: HostFileSystem(), clock: SystemClock(), random: SystemRandom())
  }
}
