/// Something that goes wrong while a program works.
public struct Fault: Hashable, Sendable {
  public enum Kind: String, CaseIterable, Sendable {
    /// The process is killed: what it wrote is there.
    case killed
    /// The power fails: what was not synced is there, not there, or torn.
    case powerCut
    /// Nothing can be written any more.
    case diskFull
    /// One call fails, and the next may not.
    case ioError
    /// The stick is gone.
    case stickPulledOut
  }

  public let kind: Kind
  /// Before the how manyeth step that changes something; the first is 0.
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
