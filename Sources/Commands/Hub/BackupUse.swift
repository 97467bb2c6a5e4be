import SatchelBundle
import SatchelValues

/// The command that reads a backup. For a faulty backup, its next step differs from the step for a device's bundle.
enum BackupUse {
  case restore, verification

  /// Runs `body`, which reads a backup. Throws its errors with the next step for a backup.
  func explaining<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as BundleError {
      guard let hint = hint(for: error) else { throw error }
      throw Refusal(error.code, error.message, hint: hint)
    }
  }

  private func hint(for error: BundleError) -> String? {
    switch (error, self) {
    case (.unknownKey, .restore):
      """
      Name the folder keys of the hub that made this backup, or a copy of it: --keys DIR. If these keys are lost: \
      --new-keys, with --fingerprint.
      """
    case (.unknownKey, .verification): "Another hub made this backup, or this hub with keys that are lost."
    case (.truncated, .restore), (.digest, .restore), (.notABundle, .restore), (.trailingData, .restore):
      "Copy the backup again from the disk on which it was made, or take an older backup."
    case (.truncated, .verification), (.digest, .verification), (.notABundle, .verification),
      (.trailingData, .verification):
      "This file cannot be restored. Make another backup: satchel-hub backup FILE"
    default: nil
    }
  }
}
