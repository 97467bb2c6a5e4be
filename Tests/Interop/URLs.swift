import Foundation
import TestSupport

enum URLs {
  /// The path of the reader in Python, which is beside this file.
  static let reader = PackageFolder.file("Tests/Interop/reader.py").path
}
