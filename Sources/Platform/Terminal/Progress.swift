/// The progress of a long step, for people.
public struct Progress: Hashable, Sendable {
  public enum Phase: String, Sendable {
    /// Verifying a bundle; in bytes.
    case reading
    /// Bringing a bundle's changes into the database; in rows.
    case applying
    /// Collecting the content of a bundle; in rows.
    case collecting
    /// Compressing a bundle into its file; in bytes.
    case writing
  }

  public let phase: Phase
  public let done: Int64
  /// nil: not known yet.
  public let total: Int64?

  public init(_ phase: Phase, _ done: Int64, of total: Int64? = nil) {
    self.phase = phase
    self.done = done
    self.total = total
  }
}

/// Receives the progress of a command. It is called often, and must be quick.
public protocol ProgressObserver: AnyObject, Sendable {
  func observe(_ progress: Progress)
}

/// Counts the progress of a phase of known length, and reports it.
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
