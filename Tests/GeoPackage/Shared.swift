import Foundation
import TestSupport
import Testing

/// GeoPackages that others made. They lie beside the checkout, and are never a part of it.
enum Shared {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/data/geopackage")

  static let isThere = FileManager.default.fileExists(atPath: folder.path)
  static let absence: Comment = "shared/data/geopackage is not beside the checkout"

  static let all = ["base.gpkg", "base3.gpkg", "base_fk.gpkg", "db-base.gpkg", "db-edge-cases.gpkg", "db3d-base.gpkg"]

  /// Puts a copy of the file to `path`, which may be written.
  static func copy(_ name: String, to path: String) throws {
    try FileManager.default.copyItem(atPath: folder.appendingPathComponent(name).path, toPath: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
  }
}
