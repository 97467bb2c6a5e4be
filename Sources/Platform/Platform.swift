/// The access to the machine for all other modules. Tests use simulated access.
public struct Platform: Sendable {
  public var files: any FileSystem
  public let clock: any WallClock
  public let random: any RandomSource
  public let programs: any ProgramRunner
  /// Receives the progress of a command; nil if nothing shows progress.
  public var progress: (any ProgressObserver)?

  public init(
    files: any FileSystem, clock: any WallClock, random: any RandomSource, programs: any ProgramRunner = HostPrograms()
  ) {
    self.files = files
    self.clock = clock
    self.random = random
    self.programs = programs
  }

  /// The machine's own files, clock and randomness.
  public static var real: Platform {
    Platform(files: HostFileSystem(), clock: SystemClock(), random: SystemRandom())
  }
}
