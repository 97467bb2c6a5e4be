import Foundation
import TestSupport

enum URLs {
  /// The path of the other reader, which is written in Python.
  static let reader = PackageFolder.file("Tests/Interop/reader.py").path
}
