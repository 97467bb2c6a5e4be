/// The progress of a long phase of a command.
public struct Progress: Hashable, Sendable {
  public enum Phase: String, Sendable {
    /// A bundle is verified. Counted in bytes.
    case reading
    /// A bundle's changes are applied to the database. Counted in rows.
    case applying
    /// The content of a bundle is collected. Counted in rows.
    case collecting
    /// A bundle is compressed into its file. Counted in bytes.
    case writing
    /// The room of a stick is tested. Counted in bytes of that room, once for writing and once for reading.
    case testing
  }

  public let phase: Phase
  public let done: Int64
  /// The value of `done` at the end of the phase; nil if it is not known yet.
  public let total: Int64?

  public init(_ phase: Phase, _ done: Int64, of total: Int64? = nil) {
    self.phase = phase
    self.done = done
    self.total = total
  }
}

/// Receives the progress of a command. `observe` is called often, and must be quick.
public protocol ProgressObserver: AnyObject, Sendable {
  func observe(_ progress: Progress)
}

/// Counts and reports the progress of a phase whose total is known.
public struct ProgressMeter {
  private let phase: Progress.Phase
  private let total: Int64
  private let observer: (any ProgressObserver)?
  private var done: Int64 = 0

  public init(_ phase: Progress.Phase, of total: Int64, for observer: (any ProgressObserver)?) {
    self.phase = phase
    self.total = total
    self.observer = observer
  }

  public mutating func add(_ count: Int) {
    done += Int64(count)
    observer?.observe(Progress(phase, done, of: total))
  }
}
