import SatchelGeometry
import Testing

private func bytes(_ hexadecimal: String) -> [UInt8] {
  let digits = hexadecimal.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

@Suite("Geometries as databases store them")
struct StoredGeometryTests {
  /// Blobs that SpatiaLite 5.0 wrote.
  static let blobs: [(String, String, Int32)] = [
    (
      """
      0001797F0000000000000000F03F0000000000000040000000000000F03F00000000000000407C010000000000000000\
      00F03F0000000000000040FE
      """,
      "POINT (1 2)", 32633
    ),
    (
      """
      0001797F000000000000000000000000000000000000000000000000084000000000000010407C020000000200000000\
      00000000000000000000000000000000000000000008400000000000001040FE
      """,
      "LINESTRING (0 0,3 4)", 32633
    ),
    (
      """
      00010000000000000000000000000000000000000000000000000000144000000000000014407C42420F000400000000\
      0000000000000000000000000000000000C03F0000803F0000003F0000803F00000000000014400000000000001440FE
      """,
      "LINESTRING (0 0,1.5 1,2 2,5 5)", 0
    ),
    ("008100000000010000000000001C400000000000002040FE", "POINT (7 8)", 0),
    (
      """
      00010000000000000000000000000000000000000000000000000000F03F00000000000000407C070000000200000069\
      01000000000000000000F03F000000000000004069030000000100000004000000000000000000000000000000000000\
      00000000000000F03F0000000000000000000000000000F03F000000000000F03F000000000000000000000000000000\
      00FE
      """,
      "GEOMETRYCOLLECTION (POINT (1 2),POLYGON ((0 0,1 0,1 1,0 0)))", 0
    ),
  ]

  @Test(
    "SpatiaLite's geometries are read completely: points, short points, lines with short numbers, collections",
    arguments: blobs)
  func spatiaLite(blob: String, text: String, system: Int32) throws {
    let stored = try #require(StoredGeometry(bytes(blob)))
    #expect(stored.form == .spatiaLite && stored.referenceSystem == system)
    #expect(stored.geometry == (try Geometry(wellKnownText: text)))
    #expect(GeometryBlob(bytes(blob).span)?.bounds == GeometryBounds(of: stored.geometry))
  }

  @Test("SpatiaLite's bytes in the other order say the same")
  func otherOrder() throws {
    let blob = bytes(
      """
      00 00 00007F79 3FF0000000000000 4000000000000000 3FF0000000000000 4000000000000000 7C 00000001 3FF0000000000000 \
      4000000000000000 FE
      """
    )
    #expect(StoredGeometry(blob)?.geometry.wellKnownText == "POINT (1 2)")
    let tiny = bytes("00 80 00007F79 04 3FF0000000000000 4000000000000000 4008000000000000 4010000000000000 FE")
    #expect(StoredGeometry(tiny)?.geometry.wellKnownText == "POINT ZM (1 2 3 4)")
  }

  @Test(
    "a blob of SpatiaLite that is cut off, or has another byte in place of a mark, is no geometry", arguments: blobs)
  func damaged(blob: String, text: String, system: Int32) throws {
    let whole = bytes(blob)
    for length in 0..<whole.count { #expect(StoredGeometry(Array(whole[..<length])) == nil, "\(length) bytes") }
    for place in whole.indices {
      var other = whole
      for value in [0, 1, 0x7f, 0xff] as [UInt8] {
        other[place] = value
        _ = GeometryBlob(other.span)
        if let found = StoredGeometry(other) { _ = found.geometry.wellKnownText }
      }
    }
    for place in [0, whole.count - 1] + (whole[1] & 0x80 == 0 ? [38] : []) {
      var other = whole
      other[place] ^= 0x10
      #expect(StoredGeometry(other) == nil && GeometryBlob(other.span) == nil, "byte \(place)")
    }
  }

  @Test("four thousand million points in a few bytes are none")
  func counts() {
    let head = "0001 00000000 0000000000000000 0000000000000000 000000000000F03F 000000000000F03F 7C"
    for type in ["02000000", "03000000", "04000000", "07000000", "42420F00", "43420F00"] {
      #expect(StoredGeometry(bytes(head + type + "FFFFFFFF 0000000000000000 FE")) == nil)
    }
    for type in ["63000000", "0A000000", "E8030000", "41420F00", "44420F00"] {
      #expect(GeometryBlob(bytes(head + type + "00000000 FE").span) == nil, "\(type) is no kind that SpatiaLite has")
    }
  }

  @Test("collections in collections are followed as deep as GDAL does, and no deeper")
  func depth() {
    func nested(_ depth: Int) -> [UInt8] {
      bytes("0001 00000000 0000000000000040 0000000000000840 0000000000000040 0000000000000840 7C")
        + (0..<depth).flatMap { _ in bytes("07000000 01000000 69") }
        + bytes("01000000 0000000000000040 0000000000000840 FE")
    }
    #expect(StoredGeometry(nested(31))?.geometry.positions.count == 1)
    for depth in [32, 100_000] { #expect(StoredGeometry(nested(depth)) == nil) }
  }

  @Test("bounds in a header that are no box are not believed")
  func inverted() {
    let body = "0102000000020000000000000000000000000000000000000000000000000008400000000000001040"
    let inverted = "47500003 00000000 0000000000001440 0000000000000040 0000000000001440 0000000000000040"
    let found = GeometryBlob(bytes(inverted + body).span)
    #expect(found?.bounds?.minX == 0 && found?.bounds?.maxX == 3 && found?.bounds?.maxY == 4)
    #expect(GeometryBlob(bytes(inverted).span) == nil)
  }
}
