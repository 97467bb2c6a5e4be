import SatchelBundle
import SatchelDataset
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The whole database that a device's bundle may carry. A person can restore the device from it.
extension HubWorkspace {
  /// Checks that the database serves its purpose: it can be read, and it holds the dataset's tables with their keys,
  /// and nothing else. If the dataset requests no snapshot, it is not opened.
  ///
  /// Throws a `BundleError` if it does not. The bundle is then refused.
  func check(snapshotOf bundle: borrowing VerifiedBundle, _ store: HubStore) throws {
    if store.dataset.snapshot == .never { return }
    let version = bundle.manifest.version
    let known = try VersionTable.definitions(in: store.database).first { $0.version == version }
    let definition = try known.map { try DatasetDefinition(json: $0.source) } ?? store.dataset
    let isPresent = version == store.dataset.version
    let declared = try store.database.generatedColumns(of: definition.tables.map(\.name))
    _ = try BundleSnapshot.open(bundle, holding: definition.tables, computing: declared) { database in
      for rules in definition.tables where isPresent {
        guard let ours = store.place(of: rules.name).map({ store.tables[$0] }) else { continue }
        guard try ours.hasSameKey(in: database) else {
          throw BundleError.entry("snapshot.sqlite", "has another PRIMARY KEY in \(rules.name)")
        }
      }
    }
  }
}
