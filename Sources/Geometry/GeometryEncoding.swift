extension Geometry {
  /// The geometry as well-known binary in the form of ISO and GeoPackage, in little-endian byte order.
  public var wellKnownBinary: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  /// The geometry in GeoPackage's form, byte for byte as GDAL writes it. For a point or an empty geometry, the header
  /// has no bounds. For all others, it has the bounds of x and y, and of Z if there is a Z.
  /// - Parameter referenceSystem: the `srs_id` of the layer.
  public func geoPackageBlob(referenceSystem: Int32) -> [UInt8] {
    let bounds = kind == .point ? nil : GeometryBounds(of: self)
    let hasHeights = bounds != nil && dimension.hasZ
    var flags: UInt8 = 1
    if isEmpty { flags |= 0x10 }
    if bounds != nil { flags |= hasHeights ? 2 << 1 : 1 << 1 }
    var bytes = Array("GP".utf8) + [0, flags]
    bytes.append(littleEndian: UInt32(bitPattern: referenceSystem))
    if let bounds { bytes.append([bounds.minX, bounds.maxX, bounds.minY, bounds.maxY]) }
    if hasHeights {
      let heights = positions.map(\.z)
      bytes.append([heights.min() ?? 0, heights.max() ?? 0])
    }
    append(to: &bytes)
    return bytes
  }

  private func append(to bytes: inout [UInt8]) {
    bytes.append(1)
    bytes.append(littleEndian: kind.rawValue + (dimension.hasZ ? 1000 : 0) + (dimension.hasM ? 2000 : 0))
    switch content {
    case .positions(let positions) where kind == .point:
      // Only NaN can mark an empty point in WKB.
      append(positions.first ?? Position(x: .nan, y: .nan, z: .nan, m: .nan), to: &bytes)
    case .positions(let positions): append(positions, to: &bytes)
    case .rings(let rings):
      bytes.append(littleEndian: UInt32(rings.count))
      for ring in rings { append(ring, to: &bytes) }
    case .parts(let parts):
      bytes.append(littleEndian: UInt32(parts.count))
      for part in parts { part.append(to: &bytes) }
    }
  }

  private func append(_ positions: [Position], to bytes: inout [UInt8]) {
    bytes.append(littleEndian: UInt32(positions.count))
    for position in positions { append(position, to: &bytes) }
  }

  private func append(_ position: Position, to bytes: inout [UInt8]) {
    bytes.append([position.x, position.y])
    if dimension.hasZ { bytes.append([position.z]) }
    if dimension.hasM { bytes.append([position.m]) }
  }
}

extension [UInt8] {
  fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
    for place in 0..<number.bitWidth / 8 { append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
  }

  fileprivate mutating func append(_ numbers: [Double]) {
    for number in numbers { append(littleEndian: number.bitPattern) }
  }
}
