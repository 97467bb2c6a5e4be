import SatchelBundle
import SatchelCrypto
import SatchelDataset
import SatchelPlatform
import SatchelValues

/// Whether a bundle is to be encrypted.
public enum Encryption: Sendable {
  case always
  case asTheDatasetSays

  /// The recipients of a bundle: the other side, the sender, and the recipients that the dataset names. The sender may
  /// need the bundle again. Empty: the bundle is not encrypted.
  /// - Parameter other: the other side's recipient; nil if it is not known.
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
