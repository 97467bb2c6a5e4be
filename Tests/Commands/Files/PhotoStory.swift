import SatchelJSON
import SatchelPlatform
import Testing

/// A camp whose reviews name photos. Ann sees rows of tier 1 on her tablet. Ben sees all rows on his phone.
protocol PhotoStory {
  var camp: CommandLineFixture { get }
}

extension PhotoStory {
  static var schema: String {
    """
    CREATE TABLE sites (id TEXT PRIMARY KEY, tier INTEGER);
    CREATE TABLE reviews (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), photo TEXT);
    INSERT INTO sites VALUES ('lake', 1), ('cave', 2);
    """
  }

  static var definition: String {
    """
    { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" }, "attachments": { "file": 4000, "bundle": 10000 },
      "tables": {
        "sites": { "visible": "tier <= :tier" },
        "reviews": { "attachments": ["photo"] } } }
    """
  }

  static func openCamp() throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open(schema, definition)
    camp.hub("user", "add", "ben", "tier=2")
    #expect(camp.hub("device", "provision", "phone", "--user", "ben", "--into", camp.path("phone")).code == 0)
    return camp
  }

  func photo(_ name: String, in place: String, _ content: String) throws {
    let path = "\(place)/files/\(name)"
    try camp.makeFolder(Paths.parent(of: path))
    try camp.write(path, content)
  }

  func review(_ id: String, _ site: String, _ photo: String, in database: String) throws {
    try camp.sql(database, "INSERT INTO reviews VALUES ('\(id)', '\(site)', '\(photo)')")
  }

  /// The content of a file in a workspace; nil: the file is missing.
  func content(_ name: String, in place: String) -> String? {
    (try? camp.read("\(place)/files/\(name)")).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The number of files whose content a bundle carries.
  func blobs(_ bundle: String) throws -> Int {
    let entries = try camp.hub("inspect", "--json", camp.path(bundle)).json["entries"]?.arrayValue
    return try #require(entries).count { $0["name"]?.stringValue?.hasPrefix("blobs/") ?? false }
  }

  func export(_ number: Int, of device: String = "tablet") -> String {
    "\(device)/bundles/outbox/camp-\(device)-hub-\(number).satchel"
  }

  func emission(_ number: Int, for device: String) -> String {
    "hub/bundles/outbox/camp-hub-\(device)-\(number).satchel"
  }

  /// The part about files in a workspace's `status`.
  func files(_ place: String) throws -> JSONValue {
    let status = place == "hub" ? camp.hub("status", "--json") : camp.device(place, "status", "--json")
    return try #require(status.json["files"])
  }
}
