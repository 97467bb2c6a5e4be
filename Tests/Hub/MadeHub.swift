import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

@testable import SatchelHub

extension HubStore {
  /// Turns a database with the app's tables into a hub's database.
  static func make(of database: borrowing Database, at path: String, _ json: String) throws -> HubStore {
    let definition = try DatasetDefinition(json: Array(json.utf8))
    let tables = try TrackedTable.find(definition, in: database)
    try ScopeRules(dataset: definition, tables: tables).check(in: database)
    let identity = Identity(id: ReplicaID(unchecked: "hub"), name: "hub", epoch: Epoch(unchecked: "epoch"))
    try database.writeTransaction {
      try install(in: database, identity: identity, definition: definition, tables: tables, at: 0)
    }
    return try HubStore(path: path)
  }
}
