import SatchelDataset
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension HubWorkspace {
  public func users() throws -> [User] { try store().users() }

  public func user(_ name: String) throws -> User {
    guard let user = try store().user(name) else { throw Self.noUser(name) }
    return user
  }

  /// The attributes of users that the dataset declares, in the order of the declaration.
  public func attributes() throws -> [Attribute] { try store().dataset.attributes }

  /// Adds a user. The attributes are texts as people type them.
  public func addUser(_ name: String, attributes: [(name: String, value: String)]) throws -> User {
    guard !name.isEmpty, isUserName(name) else {
      throw WorkspaceError(.badName, "A user's name has 1 to 100 bytes and no control characters.")
    }
    return try changing { store in
      guard try store.user(name) == nil else {
        throw WorkspaceError(
          .exists, "There is a user \(name) already.",
          hint: "To change it: satchel-hub user set \(name) ATTRIBUTE=VALUE")
      }
      let user = User(name: name, attributes: try Self.merge([], attributes, store.dataset))
      try store.save(user)
      return user
    }
  }

  /// Changes some attributes of a user; the others stay.
  /// - Parameter expires: the time from which the user gets no bundles, in milliseconds since 1970. nil: no change;
  ///   `.some(nil)`: never.
  public func setUser(
    _ name: String, attributes: [(name: String, value: String)], expires: Int64?? = nil
  ) throws -> User {
    try changing { store in
      guard let user = try store.user(name) else { throw Self.noUser(name) }
      let changed = User(
        name: name, attributes: try Self.merge(user.attributes, attributes, store.dataset),
        expires: expires ?? user.expires)
      try store.save(changed)
      return changed
    }
  }

  /// Adds the users of a list, and changes users that exist already. If one line is wrong, nothing is changed.
  /// - Parameter rows: the lines of the list, as fields. The first line is the header. The first field is the user's
  ///   name.
  public func importUsers(_ rows: [[String]]) throws -> (added: Int, changed: Int) {
    try changing { store in
      let users = try Self.readUsers(rows, store)
      for (_, user) in users { try store.save(user) }
      let added = users.filter { $0.known == nil }.count
      return (added, users.count - added)
    }
  }

  /// Reads a list of users. With each of them comes the user whom the hub already has under this name. If two lines
  /// have the same user, they make one entry.
  static func readUsers(_ rows: [[String]], _ store: HubStore) throws -> [(known: User?, user: User)] {
    guard let header = rows.first, header.count > 0 else { throw badTable(1, "it has no header") }
    var found: [(known: User?, user: User)] = []
    var places: [Name: Int] = [:]
    for (number, row) in rows.enumerated().dropFirst() {
      guard row.count == header.count else {
        throw badTable(number + 1, "it has \(row.count) fields, the header \(header.count)")
      }
      guard !row[0].isEmpty, isUserName(row[0]) else {
        throw badTable(number + 1, "\"\(row[0])\" cannot be a user's name")
      }
      let place = places[Name(row[0])]
      let known = try place.map { found[$0].known } ?? store.user(row[0])
      let present = place.map { found[$0].user } ?? known
      // An empty field changes nothing.
      let typed = zip(header, row).dropFirst().filter { !$0.1.isEmpty }.map { (name: $0.0, value: $0.1) }
      do {
        let attributes = try merge(present?.attributes ?? [], Array(typed), store.dataset)
        let user = User(name: row[0], attributes: attributes, expires: known?.expires)
        if let place {
          found[place].user = user
        } else {
          places[Name(row[0])] = found.count
          found.append((known, user))
        }
      } catch let error as WorkspaceError { throw badTable(number + 1, error.message) }
    }
    return found
  }

  private static func badTable(_ line: Int, _ words: String) -> WorkspaceError {
    WorkspaceError(
      .badCsv, "Line \(line): \(words)",
      hint: "The first line names the columns: user, then attributes. No user was added or changed.")
  }

  /// Removes a user who has no device.
  public func removeUser(_ name: String) throws {
    try changing { store in
      guard try store.user(name) != nil else { throw Self.noUser(name) }
      if let device = try store.devices().first(where: { Name($0.user) == Name(name) && $0.state != .revoked }) {
        throw WorkspaceError(
          .hasDevice, "The user \(name) still has the device \(device.name).",
          hint: "First: satchel-hub device revoke \(device.name)")
      }
      try store.removeUser(name)
    }
  }

  public static func noUser(_ name: String) -> WorkspaceError {
    WorkspaceError(
      .noUser, "There is no user \(name).", hint: "`satchel-hub user list` shows them; `user add` makes one.")
  }

  /// Returns the present attributes with the typed attributes in place of some of them, in the order of the dataset.
  static func merge(
    _ present: [Field], _ typed: [(name: String, value: String)], _ dataset: DatasetDefinition
  ) throws -> [Field] {
    var values = Dictionary(uniqueKeysWithValues: present.map { ($0.name, $0.value) })
    for (name, text) in typed {
      guard let attribute = dataset.attribute(Name(name)) else {
        let known = dataset.attributes.map(\.name.text).joined(separator: ", ")
        throw WorkspaceError(
          .noAttribute, "The dataset has no attribute \(name).", hint: known.isEmpty ? nil : "It has: \(known).")
      }
      guard let value = attribute.value(of: text) else {
        throw WorkspaceError(
          .badAttribute,
          "The attribute \(name) must be of the type \(attribute.kind.rawValue), and \"\(text)\" is not.")
      }
      values[attribute.name] = value
    }
    return dataset.attributes.compactMap { attribute in values[attribute.name].map { Field(attribute.name, $0) } }
  }
}
