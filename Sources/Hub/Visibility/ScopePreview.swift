import SatchelBundle
import SatchelValues
import SatchelWorkspace

/// The rows that a change of rights gives to users and takes from users, and the affected devices.
public struct ScopePreview: Sendable {
  /// The rows of one table. A row counts once for each user.
  public struct Table: Sendable {
    public let table: Name
    public var given: Int
    public var taken: Int
    /// The number of rows that users still see, but may no longer change.
    public var readOnly: Int

    var isEmpty: Bool { given == 0 && taken == 0 && readOnly == 0 }
  }

  public struct Device: Sendable {
    public let name: String
    /// The device's present user.
    public let user: String
    public let given: Int
    public let taken: Int
    /// The number of rows that the user still sees, but may no longer change.
    public let readOnly: Int
    /// The time of the last contact, in milliseconds since 1970. nil if the hub never received a bundle from the
    /// device.
    public let lastContact: Int64?
    /// Whether the device may have changes that the hub lacks. False is no proof that the device has none.
    public let mayHaveUnsentWork: Bool
  }

  /// The tables with rows that are given, taken, or no longer changeable, in the order of the dataset.
  public private(set) var tables: [Table] = []
  public private(set) var devices: [Device] = []

  public var given: Int { tables.reduce(0) { $0 + $1.given } }
  public var taken: Int { tables.reduce(0) { $0 + $1.taken } }

  public var readOnly: Int { tables.reduce(0) { $0 + $1.readOnly } }

  /// This preview with only the devices whose rows or rights change.
  public var ofMovedDevices: ScopePreview {
    var preview = self
    preview.devices = devices.filter { $0.given > 0 || $0.taken > 0 || $0.readOnly > 0 }
    return preview
  }

  /// - Parameters:
  ///   - changes: for each user, the rows before the change and after it, and the user's devices.
  ///   - names: the order of the tables.
  init(_ changes: [(before: UserRows, after: UserRows, devices: [EnrolledDevice])], tables names: [Name]) {
    var totals = Dictionary(names.map { ($0, Table(table: $0, given: 0, taken: 0, readOnly: 0)) }) { first, _ in first }
    for (before, after, devices) in changes {
      var sum = (given: 0, taken: 0, readOnly: 0)
      for name in Set(before.seen.keys).union(after.seen.keys) {
        let (old, new) = (before.seen[name] ?? RowSet(), after.seen[name] ?? RowSet())
        let (given, taken) = (new.subtracting(old).count, old.subtracting(new).count)
        let lost = (before.writable[name] ?? RowSet()).subtracting(after.writable[name] ?? RowSet())
        // Rows that the user no longer sees count as taken, and not as read-only.
        let readOnly = lost.intersection(new).count
        totals[name]?.given += given
        totals[name]?.taken += taken
        totals[name]?.readOnly += readOnly
        sum = (sum.given + given, sum.taken + taken, sum.readOnly + readOnly)
      }
      self.devices += devices.map {
        Device(
          name: $0.name, user: $0.user, given: sum.given, taken: sum.taken, readOnly: sum.readOnly,
          lastContact: $0.heard, mayHaveUnsentWork: $0.mayHaveUnsentWork)
      }
    }
    tables = names.compactMap { totals[$0] }.filter { !$0.isEmpty }
  }
}

extension HubWorkspace {
  /// Returns the effect that `setUser` would have with these attributes. Changes nothing.
  public func preview(user name: String, attributes: [(name: String, value: String)]) throws -> ScopePreview {
    try previewing { store in
      guard let user = try store.user(name) else { throw Self.noUser(name) }
      let changed = User(name: user.name, attributes: try Self.merge(user.attributes, attributes, store.dataset))
      return [(user, changed, try store.devices(of: user))]
    }
  }

  /// Returns the effect that `importUsers` would have. Changes nothing. New users do not count, because they have no
  /// device yet.
  public func preview(users rows: [[String]]) throws -> ScopePreview {
    try previewing { store in
      try Self.readUsers(rows, store).compactMap { known, user in
        try known.flatMap { $0.attributes == user.attributes ? nil : ($0, user, try store.devices(of: $0)) }
      }
    }
  }

  /// Returns the effect that `setDevice` would have. Changes nothing.
  /// - Parameter name: the name of the new user. nil if the device keeps its user.
  public func preview(device: String, user name: String?) throws -> ScopePreview {
    try previewing { store in
      guard let device = try store.device(named: device) else { throw Self.noDevice(device) }
      guard let former = try store.user(device.user) else { throw Self.noUser(device.user) }
      guard let user = try name.map({ try store.user($0) }) ?? former else { throw Self.noUser(name ?? "") }
      return [(former, user, [device])]
    }
  }

  private func previewing(
    _ changes: (HubStore) throws -> [(before: User, after: User, devices: [EnrolledDevice])]
  ) throws -> ScopePreview {
    try locked {
      let store = try store()
      return try store.writeTransaction(.dryRun) {
        try store.logLocalWrites(user: Self.hubUser, at: platform.clock.milliseconds())
        let census = try ScopeCensus(store)
        let changes = try changes(store).map { before, after, devices in
          let isSame = before.name == after.name && before.attributes == after.attributes
          let rows = try isSame ? UserRows() : census.rows(of: before)
          return (rows, try isSame ? rows : census.rows(of: after), devices)
        }
        return ScopePreview(changes, tables: store.tables.map(\.name))
      }
    }
  }
}

/// Whether the command for a new version of the dataset counts the rows that users gain and lose.
public enum ScopeCounting: Sendable {
  case counted, skipped
}

/// The users with devices, and the rows that these users may see before a new version of the dataset is applied.
struct ScopesBefore {
  private let users: [(user: User, rows: UserRows, devices: [EnrolledDevice])]
  private let tables: [Name]

  init(_ store: HubStore) throws {
    let census = try ScopeCensus(store)
    users = try store.users().compactMap { user in
      let devices = try store.devices(of: user)
      return devices.isEmpty ? nil : (user, try census.rows(of: user), devices)
    }
    tables = store.tables.map(\.name)
  }

  /// Compares the rows before the new version with the rows that the users may see now.
  func preview(_ store: HubStore) throws -> ScopePreview {
    let census = try ScopeCensus(store)
    let names = tables + store.tables.map(\.name).filter { !tables.contains($0) }
    return ScopePreview(
      try users.map { ($0.rows, try census.rows(of: $0.user), $0.devices) }, tables: names)
  }
}

extension HubStore {
  /// The devices of a user that are not revoked.
  func devices(of user: User) throws -> [EnrolledDevice] {
    try devices().filter { Name($0.user) == Name(user.name) && $0.state != .revoked }
  }
}

extension EnrolledDevice {
  fileprivate var mayHaveUnsentWork: Bool { state != .revoked && state != .preparing && !isReadOnly }
}
