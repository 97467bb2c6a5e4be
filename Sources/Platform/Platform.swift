/// The interfaces to the machine that the modules above may use. A test passes simulated ones.
public struct Platform: Sendable {
  public var files: any FileSystem
  public let clock: any WallClock
  public let random: any RandomSource
  /// Receives the progress of a command; nil: nothing does.
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
