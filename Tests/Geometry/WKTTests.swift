import SatchelGeometry
import Testing

@Suite("Well-known text")
struct WKTTests {
  @Test(
    "text is written as it was read, in every kind and dimension, empty ones too",
    arguments: [
      "POINT (7 7)", "POINT Z (1 2 3)", "POINT M (1 2 3)", "POINT ZM (1 2 3 4)", "POINT EMPTY", "POINT Z EMPTY",
      "LINESTRING (0 0,1.5 -2e-300)", "LINESTRING EMPTY", "POLYGON ((0 0,1 0,1 1,0 0))",
      "POLYGON Z ((0 0 1,9 0 1,9 9 1,0 0 1),(1 1 1,2 1 1,2 2 1,1 1 1))", "POLYGON EMPTY", "MULTIPOINT ((1 2),(3 4))",
      "MULTIPOINT ((1 2),EMPTY)", "MULTIPOINT EMPTY", "MULTILINESTRING ((0 0,1 1),(2 2,3 3))",
      "MULTIPOLYGON (((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))", "MULTIPOLYGON EMPTY",
      "GEOMETRYCOLLECTION M (POINT M (1 2 3),LINESTRING M (1 2 3,4 5 6),GEOMETRYCOLLECTION M EMPTY)",
      "GEOMETRYCOLLECTION EMPTY", "CIRCULARSTRING (0 0,1 1,2 0)",
      "COMPOUNDCURVE ((0 0,1 1),CIRCULARSTRING (1 1,2 2,3 1))",
      "CURVEPOLYGON (CIRCULARSTRING (0 0,1 1,2 0,1 -1,0 0))", "MULTICURVE ((0 0,1 1),CIRCULARSTRING (0 0,1 1,2 0))",
      "MULTISURFACE (((0 0,1 0,1 1,0 0)),CURVEPOLYGON ((0 0,1 0,1 1,0 0)))", "TIN (((0 0,1 0,1 1,0 0)))",
      "TRIANGLE ((0 0,1 0,1 1,0 0))", "POLYHEDRALSURFACE (((0 0,1 0,1 1,0 0)))",
      "POINT (0.1 123456789012345.67)", "POINT (-0 5e-324)",
    ])
  func unchanged(text: String) throws {
    let geometry = try Geometry(wellKnownText: text)
    #expect(geometry.wellKnownText == text)
    #expect(geometry.fault == nil)
    let read = try #require(Geometry.wellKnownBinary(geometry.wellKnownBinary))
    #expect(read.geometry == geometry)
  }

  @Test(
    "other ways to write the same are read",
    arguments: [
      ("  point\t(1\n2) ", "POINT (1 2)"), ("POINTZ(1 2 3)", "POINT Z (1 2 3)"), ("POINT (1 2 3)", "POINT Z (1 2 3)"),
      ("PointZM (1 2 3 4)", "POINT ZM (1 2 3 4)"), ("LINESTRING (1 2 3 4, 5 6 7 8)", "LINESTRING ZM (1 2 3 4,5 6 7 8)"),
      ("MULTIPOINT (1 2, 3 4)", "MULTIPOINT ((1 2),(3 4))"),
      ("MULTIPOINT Z(1 2 3,EMPTY)", "MULTIPOINT Z ((1 2 3),EMPTY)"),
      ("GEOMETRYCOLLECTION (POINT EMPTY, POINT Z (1 2 3))", "GEOMETRYCOLLECTION Z (POINT Z EMPTY,POINT Z (1 2 3))"),
      ("POINT(+1.50 .5e1)", "POINT (1.5 5)"),
    ])
  func otherWays(text: String, plain: String) throws {
    #expect(try Geometry(wellKnownText: text).wellKnownText == plain)
  }

  @Test(
    "text that is no geometry is refused at the wrong character",
    arguments: [
      ("", 1, "expected a geometry"), ("POINT", 6, "expected ( or EMPTY"), ("POINT (1)", 9, "expected a number"),
      ("POINT (1 2", 11, "expected , or )"), ("POINT (1 2) x", 13, "more text"),
      ("POINT (1 2, 3 4)", 17, "one position"),
      ("CIRCLE (1 2)", 1, "CIRCLE is no kind"), ("SRID=4326;POINT (1 2)", 1, "leave SRID=...; out"),
      ("POINT (1e999 2)", 8, "no number that a coordinate"), ("POINT (nan 2)", 8, "expected a number"),
      ("POINT (0x10 2)", 9, "expected"), ("POINT M (1 2)", 13, "2 numbers, not 3"), ("POINT Z (1 2)", 13, "not 3"),
      ("LINESTRING (1 2, 3 4 5)", 23, "3 numbers, not 2"), ("SURFACE EMPTY", 1, "the type of a layer"),
      ("GEOMETRYCOLLECTION (1 2)", 21, "expected a geometry"),
      ("GEOMETRYCOLLECTION Z (POINT M (1 2 3))", 29, "same dimension"),
      ("POLYGON ((0 0,1 0,1 1,0 0)", 27, "expected , or )"), ("POINT (1 2 3 4 5)", 16, "expected , or )"),
      ("POINT (1,2)", 9, "expected a number"), ("POINT \u{0}(1 2)", 7, "expected ( or EMPTY"),
    ])
  func refused(text: String, position: Int, words: String) throws {
    let error = #expect(throws: WKTError.self) { try Geometry(wellKnownText: text) }
    #expect(error?.position == position && error?.words.contains(words) == true, "\(String(describing: error))")
  }

  @Test("collections in collections are read as deep as GDAL follows them, and no deeper")
  func depth() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "GEOMETRYCOLLECTION (", count: depth) + "POINT (1 2)" + String(repeating: ")", count: depth)
    }
    #expect(try Geometry(wellKnownText: nested(31)).wellKnownText == nested(31))
    let points = nested(31).replacing("POINT (1 2)", with: "MULTIPOINT (1 2)")
    for text in [nested(32), nested(100_000), points] {
      let error = #expect(throws: WKTError.self) { try Geometry(wellKnownText: text) }
      #expect(error?.words.contains("too often") == true)
    }
  }

  @Test(
    "a geometry that other programs refuse has a fault",
    arguments: [
      ("LINESTRING (1 2)", "2 points"), ("POLYGON ((0 0,1 0,1 1))", "4 points"),
      ("POLYGON ((0 0,1 0,1 1,0 1))", "where it begins"), ("CIRCULARSTRING (0 0,1 1)", "odd number"),
      ("MULTIPOINT (LINESTRING (0 0,1 1))", "cannot have a LINESTRING"), ("MULTILINESTRING ((1 2))", "2 points"),
      ("GEOMETRYCOLLECTION (POLYGON ((0 0,1 0,1 1,0 1)))", "where it begins"),
    ])
  func faults(text: String, words: String) throws {
    #expect(try Geometry(wellKnownText: text).fault?.contains(words) == true)
  }
}
