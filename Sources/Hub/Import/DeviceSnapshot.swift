import SatchelBundle
import SatchelDataset
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The copy of the whole database that a device's bundle may contain. A person can restore the device from this copy.
extension HubWorkspace {
  /// Checks that the copy can be read, and contains only the dataset's tables, with the right keys. A device may send a
  /// copy even if the dataset requests none, because a person may ask for it.
  ///
  /// For a copy of a former version, the hub does not read the rows. A migration may have changed a generated column
  /// that takes long to compute. The hub no longer has the former column for a comparison.
  ///
  /// Throws a `BundleError` if a check fails. The hub then refuses the bundle.
  func check(snapshotOf bundle: borrowing VerifiedBundle, _ store: HubStore) throws {
    let version = bundle.manifest.version
    let definition = try store.definition(of: version) ?? store.dataset
    let isPresent = version == store.dataset.version
    let declared = try store.database.generatedColumns(of: definition.tables.map(\.name))
    _ = try BundleSnapshot.open(
      bundle, holding: definition.tables, computing: declared, isPresent ? .refused : .notComputed
    ) { database in
      for rules in definition.tables where isPresent {
        guard let ours = store.place(of: rules.name).map({ store.tables[$0] }) else { continue }
        guard try ours.hasSameKey(in: database) else {
          throw BundleError.entry("snapshot.sqlite", "has another PRIMARY KEY in \(rules.name)")
        }
      }
    }
  }
}
