import SatchelBundle
import SatchelCrypto
import SatchelDataset
import SatchelPlatform
import SatchelValues

/// Says whether a new bundle is encrypted.
public enum Encryption: Sendable {
  case always
  case asTheDatasetSays

  /// The recipients of a new bundle: the other replica, this replica and the recipients that the dataset names. This
  /// replica is a recipient because it may have to read its own bundle later. Empty if the bundle is not encrypted.
  /// - Parameter other: the age recipient of the other replica; nil if this replica does not know it.
  /// - Throws: `WorkspaceError` if the bundle must be encrypted and `other` is nil.
  public func recipients(
    _ other: AgeRecipient?, name: String, _ dataset: DatasetDefinition, _ keys: WorkspaceKeys
  ) throws -> [AgeRecipient] {
    if case .asTheDatasetSays = self, dataset.encryption == .never { return [] }
    guard let other else {
      throw WorkspaceError(
        .noRecipient, "The recipient of encrypted bundles for \(name) is not known yet.",
        hint: "Its bundles name it: import one first.")
    }
    return try [other, keys.recipient()] + dataset.escrow
  }
}
