import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A fault of the hub's own clock, now or when a row was written at the hub.
///
/// All devices follow the hub's stamps. If a device received a wrong stamp, that stamp could decide for years which
/// write is the newest. So the hub asks its operator before it imports or emits anything.
public struct ClockFault: Sendable {
  /// The times are in milliseconds since 1970.
  public enum Kind: Sendable, Equatable {
    /// The clock shows less than it did before.
    case behind(now: Int64, last: Int64)
    /// The clock shows far more than it did before.
    case leapt(now: Int64, last: Int64)
    /// Rows were written at the hub while its clock showed far more than it does now. No device has the stamps of these
    /// rows.
    case writes(now: Int64, newest: Int64)
    /// The hub gave stamps while its clock showed far more than it does now. Devices may have these stamps.
    case stamps(now: Int64, newest: Int64, holders: Holders)
  }

  public let kind: Kind
  /// Shows the times in messages as local times, because people compare them with the output of `date`.
  private let clock: any WallClock

  init(_ kind: Kind, by clock: any WallClock) {
    self.kind = kind
    self.clock = clock
  }

  /// The devices with stamps that are far ahead, by name.
  public struct Holders: Sendable, Equatable {
    /// The devices whose bundles have such stamps.
    public var shown: [String] = []
    /// The devices that may have such stamps. The hub made bundles with such stamps for them, and they have delivered
    /// nothing since then.
    public var possible: [String] = []

    var isNone: Bool { shown.isEmpty && possible.isEmpty }
    func contains(_ name: String) -> Bool { shown.contains(name) || possible.contains(name) }
  }

  /// The limit for two differences, in milliseconds. The hub's clock may be set back by this time. The clocks of two
  /// programs at one hub may differ by this time.
  static let tolerance: Int64 = 3_600_000
  /// The longest time between two readings of the hub's clock, in milliseconds. After a longer time, the hub asks a
  /// person whether its clock is right.
  static let longestRest: Int64 = 180 * 86_400_000

  /// Compares two readings of the hub's clock. Returns nil if the clock shows no fault.
  /// - Parameter last: the earlier reading. Zero if there was none.
  init?(now: Int64, last: Int64, by clock: any WallClock) {
    if last == 0 { return nil }
    if now < last - Self.tolerance {
      self.init(.behind(now: now, last: last), by: clock)
    } else if now > last + Self.longestRest {
      self.init(.leapt(now: now, last: last), by: clock)
    } else {
      return nil
    }
  }
}

extension ClockFault {
  /// The operator's next steps.
  public var wayOut: String {
    let look = "Look at this computer's clock (date), and set it if it is wrong. If it is right:"
    guard case .stamps(_, _, let holders) = kind, !holders.isNone else { return "\(look) satchel-hub doctor --repair" }
    if holders.shown.isEmpty {
      return """
        \(look) import a new bundle of \(holders.possible.joined(separator: ", ")) (satchel export --prove makes one \
        there, also without new work), or revoke a device that does not come back. Then satchel-hub doctor --repair
        """
    }
    return """
      \(look) import the work of \(holders.shown.joined(separator: ", ")), and revoke each of these devices \
      (satchel-hub device revoke NAME). Then satchel-hub doctor --repair, and provision new devices for their users
      """
  }

  /// Whether `doctor --repair` can correct the effects of this fault.
  var isRepairable: Bool {
    if case .stamps(_, _, let holders) = kind { holders.isNone } else { true }
  }

  func refusal() -> Refusal {
    let rest =
      if case .stamps = kind { "no bundle is made for a device that lacks them" } else {
        "nothing is imported or made"
      }
    return Refusal(.clock, "\(words) Until you decide, \(rest).", hint: wayOut)
  }

  /// The fault, in one or two sentences.
  public var words: String {
    switch kind {
    case .behind(let now, let last):
      """
      This hub's own clock was set back: it shows \(clock.localText(milliseconds: now)), and showed \
      \(clock.localText(milliseconds: last)) when the hub worked last.
      """
    case .leapt(let now, let last):
      """
      This hub's own clock went far ahead: it shows \(clock.localText(milliseconds: now)), and showed \
      \(clock.localText(milliseconds: last)) when the hub worked last.
      """
    case .writes(let now, let newest):
      """
      Rows were written at this hub while its own clock showed \(clock.localText(milliseconds: newest)); now it shows \
      \(clock.localText(milliseconds: now)). They would count as newer than all that devices write until then.
      """
    case .stamps(let now, let newest, let holders):
      """
      This hub has given times until \(clock.localText(milliseconds: newest)), and its own clock shows \
      \(clock.localText(milliseconds: now)): its times are \((newest - now) / 86_400_000) days ahead. \
      A device whose clock is right refuses its bundles.\(Self.words(of: holders))
      """
    }
  }
}

extension ClockFault {
  /// Says what it means that devices have stamps that are far ahead, or may have them.
  private static func words(of holders: Holders) -> String {
    var words = ""
    if !holders.shown.isEmpty {
      words += """
         These devices have such times: \(holders.shown.joined(separator: ", ")). So their clocks were wrong too, or \
        this computer's clock is wrong now. The times cannot be lowered, because the changes of these devices would \
        still be ahead.
        """
    }
    if !holders.possible.isEmpty {
      words += """
         These devices may have such times, because bundles with them were made for them: \
        \(holders.possible.joined(separator: ", ")). The times are lowered after each of them has delivered.
        """
    }
    return words
  }
}

extension HubWorkspace {
  /// Throws a `Refusal` if the hub's clock cannot be right. Also throws if the clock was wrong when the hub gave stamps
  /// that no device has yet.
  func checkClock(_ store: HubStore) throws { try store.checkClock(at: platform.clock.milliseconds()) }

  /// Throws a `Refusal` if the hub's stamps are so far ahead of its clock that a device refuses them. Does not throw
  /// for a device that may have such stamps already.
  func refuseStampsAhead(for device: EnrolledDevice, _ store: HubStore) throws {
    guard let fault = try clockFaultOfStamps(store), case .stamps(_, _, let holders) = fault.kind,
      !holders.contains(device.name)
    else { return }
    throw fault.refusal()
  }

  /// The fault of the hub's clock. The clock may be wrong now, when rows were written at the hub, or when the hub gave
  /// stamps. nil if there is no fault.
  func clockFault(_ store: HubStore) throws -> ClockFault? {
    let now = platform.clock.milliseconds()
    if let fault = try store.clockFault(at: now) { return fault }
    // If capture is damaged, its tables may have other columns, and the stamps in them cannot be read.
    guard store.damage.isEmpty else { return nil }
    return try clockFaultOfStamps(store) ?? store.clockFaultOfLog(at: now) ?? store.clockFaultOfWrites(at: now)
  }

  /// The fault of the stamps that this hub has given. nil if there is none.
  func clockFaultOfStamps(_ store: HubStore) throws -> ClockFault? {
    try store.damage.isEmpty ? store.clockFaultOfStamps(at: platform.clock.milliseconds()) : nil
  }
}

/// Times in the bundles of devices that contradict the hub's clock after it was set back.
public struct ClockDoubt: Sendable {
  let now: Int64
  /// The newest time that a device has shown, in milliseconds since 1970.
  let newest: Int64
  /// The names of the devices that have shown times later than the present one.
  let devices: [String]
  let clock: any WallClock

  public var words: String {
    """
    This hub's clock shows \(clock.localText(milliseconds: now)). But \(devices.joined(separator: ", ")) brought \
    changes with times up to \(clock.localText(milliseconds: newest)). So this clock may be behind. A repair takes it \
    as right, and later times in the hub's records become the present time.
    """
  }
}

extension HubWorkspace {
  /// The times in the bundles of devices, if they contradict the hub's clock after it was set back. nil if none do.
  public func clockDoubt() throws -> ClockDoubt? {
    // If the database cannot be opened, this method reports no doubt. The repair itself names the damage.
    guard let store = try? examined() else { return nil }
    let now = platform.clock.milliseconds()
    guard case .behind? = try store.clockFault(at: now)?.kind else { return nil }
    let later = try store.devices().filter {
      $0.state != .revoked && $0.newestStamp.milliseconds > now + ClockFault.tolerance
    }
    guard let newest = later.map(\.newestStamp.milliseconds).max() else { return nil }
    return ClockDoubt(now: now, newest: newest, devices: later.map(\.name), clock: platform.clock)
  }
}
