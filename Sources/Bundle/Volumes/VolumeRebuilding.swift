import SatchelPlatform

/// Computes the missing pieces of a bundle that was cut into volumes.
public struct VolumeRebuilding {
  private let volume: Manifest.Volume
  private let pieceBytes: Int64
  private let files: any FileSystem

  /// - Parameters:
  ///   - volume: any volume of the bundle. Its numbers were checked when it was read.
  ///   - pieceBytes: the size of each piece except the last.
  public init(of volume: Manifest.Volume, pieceBytes: Int64, files: any FileSystem) {
    self.volume = volume
    self.pieceBytes = pieceBytes
    self.files = files
  }

  /// Computes the missing data pieces. Throws if fewer pieces are present than the bundle has data pieces.
  /// - Parameters:
  ///   - present: the paths of the present pieces, by the numbers of their volumes. Parity pieces have numbers above
  ///     `volume.parts`.
  ///   - folder: the folder for the computed pieces.
  /// - Returns: the paths of all data pieces, by the numbers of their volumes.
  public func dataPieces(from present: [Int64: String], in folder: String) throws -> [Int64: String] {
    let numbers = 1...volume.parts
    var paths = present.filter { numbers.contains($0.key) }
    let missing = numbers.filter { paths[$0] == nil }
    if missing.isEmpty { return paths }
    let chosen = present.keys.sorted().prefix(Int(volume.parts))
    guard volume.parts < ReedSolomon.mostPieces,
      let tables = ReedSolomon(count: Int(volume.parts)).rebuilding(missing.map(Self.row), from: chosen.map(Self.row))
    else { throw BundleError.manifest("too few of its pieces are here") }
    let places = chosen.map {
      PieceComputation.Place(path: present[$0] ?? "", start: 0, bytes: volume.bytes(of: $0, pieceBytes: pieceBytes))
    }
    let made = try PieceComputation(files: files, tables: tables).run(
      from: places, sizes: missing.map { volume.bytes(of: $0, pieceBytes: pieceBytes) }, in: folder)
    for (part, path) in zip(missing, made) { paths[part] = path }
    return paths
  }

  private static func row(of part: Int64) -> Int { Int(part - 1) }
}
