import SatchelGeometry
import Testing

@Suite("Differences of geometries, and the geometries that a layer accepts")
struct DifferenceTests {
  private func difference(_ before: String, _ after: String) throws -> GeometryDifference {
    GeometryDifference(from: try Geometry(wellKnownText: before), to: try Geometry(wellKnownText: after))
  }

  @Test("points that moved are counted, with the distance of the farthest")
  func moved() throws {
    let square = "POLYGON ((0 0,10 0,10 10,0 10,0 0))"
    #expect(try difference(square, "POLYGON ((0 0,10 0,13 14,1 10,0 0))") == .moved(points: 2, distance: 5))
    #expect(try difference(square, square) == .none)
    #expect(try difference("POINT Z (1 2 3)", "POINT Z (1 2 4)") == .moved(points: 1, distance: 0))
    #expect(try difference("MULTIPOINT (1 1,2 2)", "MULTIPOINT (1 1,2 5)") == .moved(points: 1, distance: 3))
  }

  @Test("another kind, other dimensions and another number of points are named, and no distance is made up")
  func other() throws {
    #expect(try difference("POINT (1 2)", "MULTIPOINT (1 2)") == .kind)
    #expect(try difference("POINT (1 2)", "POINT Z (1 2 3)") == .kind)
    #expect(try difference("LINESTRING (0 0,1 1)", "LINESTRING (0 0,1 1,2 2)") == .count(before: 2))
    #expect(try difference("POINT (1 2)", "POINT EMPTY") == .count(before: 1))
  }

  @Test(
    "a layer takes its own kind and those below it, with the numbers that it asks for",
    arguments: [
      (LayerType(.point, z: .prohibited, m: .prohibited), "POINT (1 2)", nil),
      (LayerType(.point, z: .prohibited, m: .prohibited), "POLYGON EMPTY", "takes POINT, and this is POLYGON"),
      (LayerType(.point, z: .prohibited, m: .optional), "POINT Z (1 2 3)", "takes no Z"),
      (LayerType(.point, z: .mandatory, m: .optional), "POINT (1 2)", "needs Z"),
      (LayerType(.point, z: .optional, m: .mandatory), "POINT Z (1 2 3)", "needs M"),
      (LayerType(.point, z: .optional, m: .optional), "POINT ZM (1 2 3 4)", nil),
      (LayerType(.multiPolygon, z: .prohibited, m: .prohibited), "POLYGON EMPTY", "takes MULTIPOLYGON"),
      (LayerType(.geometry, z: .prohibited, m: .prohibited), "TIN EMPTY", nil),
      (LayerType(.geometryCollection, z: .prohibited, m: .prohibited), "MULTIPOINT EMPTY", nil),
      (LayerType(.geometryCollection, z: .prohibited, m: .prohibited), "POINT EMPTY", "takes GEOMETRYCOLLECTION"),
      (LayerType(.multiCurve, z: .prohibited, m: .prohibited), "MULTILINESTRING EMPTY", nil),
      (LayerType(.curve, z: .prohibited, m: .prohibited), "LINESTRING EMPTY", nil),
      (LayerType(.surface, z: .prohibited, m: .prohibited), "LINESTRING EMPTY", "takes SURFACE"),
    ] as [(LayerType, String, String?)])
  func layers(type: LayerType, text: String, words: String?) throws {
    let refusal = type.refusal(of: try Geometry(wellKnownText: text))
    if let words { #expect(refusal?.contains(words) == true) } else { #expect(refusal == nil) }
  }

  @Test(
    "metres and degrees are known by a reference system's text, and nothing else is taken for them",
    arguments: [
      (
        #"PROJCS["UTM",GEOGCS["WGS 84",DATUM["x",SPHEROID["y",6378137,298]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],UNIT["metre",1,AUTHORITY["EPSG","9001"]]]"#,
        MapUnit.metres
      ),
      (
        #"PROJCS["feet",GEOGCS["g",UNIT["degree",0.0174532925199433]],UNIT["US survey foot",0.304800609601219]]"#,
        .unknown
      ),
      (#"GEOGCS["WGS 84",DATUM["[tricky], UNIT"],UNIT["degree",0.0174532925199433]]"#, .degrees),
      (
        #"GEOGCRS["WGS 84",DATUM["w",ELLIPSOID["w",6378137,298.25,LENGTHUNIT["metre",1]]],CS[ellipsoidal,2],AXIS["lat",north,ANGLEUNIT["degree",0.0174532925199433]]]"#,
        .degrees
      ),
      (#"PROJCRS["p",BASEGEOGCRS["g"],CS[Cartesian,2],AXIS["(E)",east],LENGTHUNIT["metre",1]]"#, .metres),
      (#"COMPD_CS["c",PROJCS["p",UNIT["metre",1]],VERT_CS["v",UNIT["foot",0.3048]]]"#, .metres),
      (#"GEOGCS["grads",UNIT["grad",0.01570796326794897]]"#, .unknown),
      ("undefined", .unknown), ("", .unknown), ("]]]PROJCS[", .unknown),
    ])
  func units(definition: String, unit: MapUnit) { #expect(MapUnit(definition: definition) == unit) }
}
