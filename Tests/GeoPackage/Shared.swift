import Foundation
import TestSupport
import Testing

/// GeoPackages from other programs. They are beside the checkout, and never a part of it.
enum Shared {
  private static let folder = PackageFolder.data("geopackage")

  static let isThere = FileManager.default.fileExists(atPath: folder.path)
  static let absence: Comment = "shared/data/geopackage is not beside the checkout"

  static let all = ["base.gpkg", "base3.gpkg", "base_fk.gpkg", "db-base.gpkg", "db-edge-cases.gpkg", "db3d-base.gpkg"]

  /// Makes a writable copy of the named file at `path`.
  static func copy(_ name: String, to path: String) throws {
    try FileManager.default.copyItem(atPath: folder.appendingPathComponent(name).path, toPath: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
  }
}
