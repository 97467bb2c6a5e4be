import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// What is wrong with the hub's own clock, or was when somebody wrote at the hub.
///
/// All devices follow the hub's stamps. One wrong reading, once sent, would decide for years which write counts as the
/// newest. So a person is asked before anything is imported or sent.
public enum ClockFault: Sendable, Equatable {
  /// The clock shows less than it did before.
  case behind(now: Int64, last: Int64)
  /// The clock shows far more than it did before.
  case leapt(now: Int64, last: Int64)
  /// Rows were written at the hub while its clock showed far more than it does now.
  case writes(now: Int64, newest: Int64)

  /// By how much a clock may be set back, or two programs at one hub may differ, in milliseconds.
  static let tolerance: Int64 = 3_600_000
  /// How long a hub may rest before somebody is asked whether its clock is right, in milliseconds.
  static let longestRest: Int64 = 180 * 86_400_000

  /// Compares two readings of the hub's clock; nil: nothing is wrong.
  /// - Parameter last: zero: there was none.
  init?(now: Int64, last: Int64) {
    if last == 0 { return nil }
    if now < last - Self.tolerance {
      self = .behind(now: now, last: last)
    } else if now > last + Self.longestRest {
      self = .leapt(now: now, last: last)
    } else {
      return nil
    }
  }
}

extension ClockFault {
  /// What the operator does next.
  public static let wayOut =
    "Look at this computer's clock (date), and set it if it is wrong. If it is right: satchel-hub doctor --repair"

  func refusal() -> Refusal {
    Refusal("clock", "\(words) Until somebody decides, nothing is imported or made.", hint: Self.wayOut)
  }

  /// What happened, in a sentence or two.
  public var words: String {
    switch self {
    case .behind(let now, let last):
      """
      This hub's own clock was set back: it shows \(UTCTime.text(milliseconds: now)), and showed \(UTCTime.text(milliseconds: last)) \
      when the hub worked last.
      """
    case .leapt(let now, let last):
      """
      This hub's own clock went far ahead: it shows \(UTCTime.text(milliseconds: now)), and showed \(UTCTime.text(milliseconds: last)) \
      when the hub worked last.
      """
    case .writes(let now, let newest):
      """
      Rows were written at this hub while its own clock showed \(UTCTime.text(milliseconds: newest)); now it shows \
      \(UTCTime.text(milliseconds: now)). They would count as newer than all that devices write until then.
      """
    }
  }
}

extension HubWorkspace {
  /// Throws a `Refusal` if the hub's clock cannot be right.
  func checkClock(_ store: HubStore) throws {
    if let fault = try store.clockFault(at: platform.clock.milliseconds()) { throw fault.refusal() }
  }

  /// The same, and remembers what the clock shows. For commands that give stamps to others or judge theirs.
  func passClock(_ store: HubStore) throws {
    try checkClock(store)
    let now = platform.clock.milliseconds()
    // A commit costs more than a look: an hour may be missed, so a minute may.
    guard ending == .keep, try now > store.clockReading() + 60_000 else { return }
    try store.writeTransaction(.keep) { try store.saveClockReading(now) }
  }

  /// nil: the hub's clock is right, and was when somebody wrote here.
  func clockFault(_ store: HubStore) throws -> ClockFault? {
    let now = platform.clock.milliseconds()
    if let fault = try store.clockFault(at: now) { return fault }
    // Where capture is damaged its tables may have other columns.
    guard store.damage.isEmpty else { return nil }
    return try store.clockFaultOfWrites(at: now)
  }
}
