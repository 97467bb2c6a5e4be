import SatchelBundle
import SatchelCrypto
import SatchelDataset
import SatchelPlatform

/// Whether somebody wants a bundle encrypted.
public enum Encryption: Sendable {
  case always
  case asTheDatasetSays

  /// For whom a bundle is encrypted: the other side, its sender, who may need it once more, and those that the dataset
  /// names. None: it is not encrypted.
  /// - Parameter other: the other side's recipient; nil where it is not known.
  public func recipients(
    _ other: AgeRecipient?, name: String, _ dataset: DatasetDefinition, _ keys: WorkspaceKeys
  ) throws -> [AgeRecipient] {
    if case .asTheDatasetSays = self, dataset.encryption == .never { return [] }
    guard let other else {
      throw WorkspaceError(
        "no-recipient", "\(name) has not told yet for whom to encrypt what is for it.",
        hint: "A bundle of its own tells that: import one first.")
    }
    return try [other, keys.recipient()] + dataset.escrow
  }
}
