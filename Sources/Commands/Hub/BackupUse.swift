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
    case (.encryption(.noMatch), .restore):
      """
      Only a key of the hub that made this backup opens it, or an escrow key of its dataset. With a copy of the newest \
      keys/: --keys DIR. With an escrow key: open the file with age -d -i KEY -o NEW-FILE FILE, and restore NEW-FILE. \
      Without these keys no one can open the backup. Make a new hub with satchel-hub init, and move each device to it: \
      satchel renew --hub --request FILE
      """
    case (.encryption(.noMatch), .verification), (.unknownKey, .verification):
      "Another hub made this backup, or this hub with keys that are lost."
    case (.truncated, .restore), (.digest, .restore), (.notABundle, .restore), (.trailingData, .restore):
      "Copy the backup again from the disk on which it was made, or take an older backup."
    case (.truncated, .verification), (.digest, .verification), (.notABundle, .verification),
      (.trailingData, .verification):
      "This file cannot be restored. Make another backup: satchel-hub backup FILE"
    default: nil
    }
  }
}
