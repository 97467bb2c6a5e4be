/// A failure while a program works.
public struct Fault: Hashable, Sendable {
  public enum Kind: String, CaseIterable, Sendable {
    /// The process is killed: its writes remain.
    case killed
    /// The power fails: afterwards, each unsynced write is there, missing, or torn.
    case powerCut
    /// Nothing can be written any more.
    case diskFull
    /// One call fails; the next may succeed.
    case ioError
    /// The stick is pulled out.
    case stickPulledOut
  }

  public let kind: Kind
  /// The number of the changing step before which the fault happens. The first step has the number 0.
  public let step: Int

  public init(_ kind: Kind, step: Int) {
    self.kind = kind
    self.step = step
  }
}

/// How a simulated system call fails.
enum Failure: Error {
  case dead, noSpace, failed
}
