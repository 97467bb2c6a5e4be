import SatchelJSON
import SatchelPlatform
import SatchelValues

/// `satchel.json`: the replica that a workspace holds, and the path of its database.
public struct WorkspaceConfiguration: Sendable {
  public let role: Role
  public let dataset: String
  public let id: ReplicaID
  public let name: String
  /// The path of the database as `satchel.json` has it: relative to the workspace, or absolute.
  public let database: String
  /// The id of this copy of the device's folder; nil at a hub.
  public let incarnation: Incarnation?
  /// The former id of this device, while the hub has not answered the device under its new name; nil otherwise.
  public let continues: ReplicaID?
  /// The id of this device before it got its present name; nil if the device never changed its name.
  public let former: ReplicaID?
  /// The proof that this device continues the device with the former id: the text of a signature file, made with a
  /// key of that id. nil if there is none.
  public let proof: String?
  /// Whether the device's database has rows from before its hub's first bundle. The import of that bundle joins them
  /// with the hub's rows.
  public let joins: Bool
  /// The former id of this device at a hub that it left, until the first bundle of the next hub comes; nil otherwise.
  public let leaves: ReplicaID?
  /// The name of the database on the tablet, if this device is docked; nil if the database is on this machine.
  public let docks: String?

  public init(
    role: Role, dataset: String, id: ReplicaID, name: String, database: String, incarnation: Incarnation?,
    continues: ReplicaID? = nil, former: ReplicaID? = nil, proof: String? = nil, joins: Bool = false,
    leaves: ReplicaID? = nil, docks: String? = nil
  ) {
    self.role = role
    self.dataset = dataset
    self.id = id
    self.name = name
    self.database = database
    self.incarnation = incarnation
    self.continues = continues
    self.former = former
    self.proof = proof
    self.joins = joins
    self.leaves = leaves
    self.docks = docks
  }

  /// The same configuration with other values of `joins` and `leaves`.
  public func with(joins: Bool, leaves: ReplicaID?) -> WorkspaceConfiguration {
    WorkspaceConfiguration(
      role: role, dataset: dataset, id: id, name: name, database: database, incarnation: incarnation,
      continues: continues, former: former, proof: proof, joins: joins, leaves: leaves, docks: docks)
  }

  /// The same configuration, changed for a device whose database is now on a tablet.
  /// - Parameter name: the name of the database on the tablet.
  public func docking(_ name: String, joins: Bool) -> WorkspaceConfiguration {
    WorkspaceConfiguration(
      role: role, dataset: dataset, id: id, name: self.name, database: database, incarnation: incarnation,
      continues: continues, former: former, proof: proof, joins: joins, leaves: leaves, docks: name)
  }

  /// The same configuration after the hub's first answer to the device under its present name.
  public var answered: WorkspaceConfiguration {
    WorkspaceConfiguration(
      role: role, dataset: dataset, id: id, name: name, database: database, incarnation: incarnation,
      former: predecessor, proof: proof, docks: docks)
  }

  /// The id of the device whose history this device continues; nil if this device began its own history.
  public var predecessor: ReplicaID? { continues ?? former }

  /// The present id of this replica, and all former ids in this configuration.
  public var ids: [ReplicaID] { [id] + [continues, former, leaves].compactMap { $0 } }

  private static let maximumBytes = 64 << 10

  /// The file's content.
  public var bytes: [UInt8] {
    var members: [JSONValue.Member] = [
      .init(name: "satchel", value: 1),
      .init(name: "role", value: .string(role.rawValue)),
      .init(name: "dataset", value: .string(dataset)),
      .init(name: "id", value: .string(id.text)),
      .init(name: "name", value: .string(name)),
      .init(name: "database", value: .string(database)),
    ]
    if let incarnation { members.append(.init(name: "incarnation", value: .string(incarnation.text))) }
    if let continues { members.append(.init(name: "continues", value: .string(continues.text))) }
    if let former { members.append(.init(name: "former", value: .string(former.text))) }
    if let proof { members.append(.init(name: "proof", value: .string(proof))) }
    if joins { members.append(.init(name: "joins", value: true)) }
    if let leaves { members.append(.init(name: "leaves", value: .string(leaves.text))) }
    if let docks { members.append(.init(name: "docks", value: .string(docks))) }
    return JSONValue.object(members).prettyBytes
  }

  /// Reads the configuration of the workspace at `folder`, which must have the given role.
  public static func load(_ folder: WorkspaceFolder, role: Role, files: any FileSystem) throws -> WorkspaceConfiguration
  {
    let tool = role == .hub ? "satchel-hub" : "satchel"
    guard try files.kind(folder.configuration) == .file else {
      throw WorkspaceError(
        .noWorkspace, "There is no Satchel workspace in \(folder.root == "." ? "this folder" : folder.root).",
        hint: "Go to the folder with satchel.json, or name it: \(tool) -C DIR ...")
    }
    let bytes = try files.read(folder.configuration, limit: maximumBytes)
    let found = try? JSONValue.parse(bytes)
    if let form = found?["satchel"]?.integerValue, form > 1 {
      throw WorkspaceError(
        .newerSchema, "A newer version of Satchel made \(folder.configuration).",
        hint: "Install that version here, or a newer one. The file is all right.")
    }
    guard let document = found, let configuration = WorkspaceConfiguration(document) else {
      throw WorkspaceError(
        .badWorkspace, "\(folder.configuration) cannot be understood.",
        hint: "Bring the file back from a backup of the workspace.")
    }
    guard configuration.role == role else {
      let other = role == .hub ? "satchel" : "satchel-hub"
      throw WorkspaceError(
        .otherRole, "\(folder.root) is the workspace of a \(configuration.role.rawValue).",
        hint: "Its tool is \(other).")
    }
    return configuration
  }

  private init?(_ document: JSONValue) {
    guard document["satchel"]?.integerValue == 1,
      let role = document["role"]?.stringValue.flatMap({ Role(rawValue: $0) }),
      let dataset = document["dataset"]?.stringValue, isSafeName(dataset),
      let id = document["id"]?.stringValue.flatMap({ ReplicaID($0) }), let name = document["name"]?.stringValue,
      isSafeName(name),
      let database = document["database"]?.stringValue
    else { return nil }
    let incarnation = document["incarnation"]?.stringValue.flatMap { Incarnation($0) }
    if role == .device && incarnation == nil { return nil }
    self.init(
      role: role, dataset: dataset, id: id, name: name, database: database, incarnation: incarnation,
      continues: document["continues"]?.stringValue.flatMap { ReplicaID($0) },
      former: document["former"]?.stringValue.flatMap { ReplicaID($0) }, proof: document["proof"]?.stringValue,
      joins: document["joins"] == true,
      leaves: document["leaves"]?.stringValue.flatMap { ReplicaID($0) },
      docks: document["docks"]?.stringValue)
  }

  public func databasePath(_ folder: WorkspaceFolder) -> String { folder.path(database) }
}
