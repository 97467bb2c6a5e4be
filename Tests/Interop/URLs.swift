import Foundation

enum URLs {
  /// The path of the reader in Python, which is beside this file.
  static let reader = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "reader.py").path
}
