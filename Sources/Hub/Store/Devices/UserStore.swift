import SatchelBundle
import SatchelSQLite
import SatchelValues

/// A person who works with the dataset's rows.
public struct User: Sendable {
  public let name: String
  /// The attributes in the order of the dataset's declaration. Attributes that were never set are missing.
  public let attributes: [Field]
  /// The end of the user's last day, in milliseconds since 1970. From then on the user gets no bundles. nil for never.
  public var expires: Int64?
}

extension HubStore {
  func users() throws -> [User] {
    try database.all("SELECT name, attributes, expires FROM satchel_users ORDER BY name") { try user($0) }
  }

  func user(_ name: String) throws -> User? {
    try database.first(
      "SELECT name, attributes, expires FROM satchel_users WHERE name = :name", ["name": .string(name)]
    ) {
      try user($0)
    }
  }

  func save(_ user: User) throws {
    try database.run(
      "INSERT OR REPLACE INTO satchel_users (name, attributes, expires) VALUES (:name, :attributes, :expires)",
      [
        "name": .string(user.name), "attributes": .text(FieldsCoding.json(user.attributes)),
        "expires": user.expires.map { .integer($0) } ?? .null,
      ])
  }

  func removeUser(_ name: String) throws {
    try database.run("DELETE FROM satchel_users WHERE name = :name", ["name": .string(name)])
  }

  private func user(_ row: borrowing Statement) throws -> User {
    guard case .text(let bytes) = row.value(1) else {
      return User(name: row.text(0), attributes: [], expires: row.optionalInteger(2))
    }
    return User(name: row.text(0), attributes: try FieldsCoding.parse(bytes), expires: row.optionalInteger(2))
  }
}
