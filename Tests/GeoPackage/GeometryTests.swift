import Foundation
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

/// The results of the five functions for a value: ST_IsEmpty, ST_MinX, ST_MaxX, ST_MinY and ST_MaxY.
private func said(_ value: Value, in database: borrowing Database) throws -> [Value] {
  try database.first(
    "SELECT ST_IsEmpty(:g), ST_MinX(:g), ST_MaxX(:g), ST_MinY(:g), ST_MaxY(:g)", ["g": value]
  ) { $0.values(from: 0, count: 5) } ?? []
}

private let nothing = [Value](repeating: .null, count: 5)

private func hexadecimal(_ text: String) -> [UInt8] {
  let digits = text.filter { $0 != " " }.compactMap { $0.hexDigitValue }
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

@Suite("The geometry functions")
final class GeometryTests {
  private let database: Database

  init() throws { database = try Database(path: ":memory:", mode: .create) }

  @Test("bounds are those of all coordinates, for every type, dimension and byte order, with and without an envelope")
  func random() throws {
    let first = ProcessInfo.processInfo.environment["SATCHEL_SEED"].flatMap { UInt64($0) } ?? 1
    for seed in first..<first + 3000 {
      let geometry = RandomGeometry(seed)
      let expected: [Value] =
        geometry.bounds.map { [.integer(0)] + $0.map { .real($0) } } ?? [.integer(1), .null, .null, .null, .null]
      let found = try said(.blob(geometry.blob), in: database)
      #expect(found == expected, "SATCHEL_SEED=\(seed)")
    }
  }

  @Test("a geometry that is cut off anywhere is none, and bytes that are damaged do no harm")
  func damaged() throws {
    for seed in UInt64(1)..<300 {
      let geometry = RandomGeometry(seed)
      var random = SplitMix64(seed: seed)
      let isRead = geometry.blob[3] & 0x1e == 0
      for length in 0..<geometry.blob.count where isRead {
        #expect(
          try said(.blob(Array(geometry.blob[..<length])), in: database) == nothing, "seed \(seed), \(length) bytes")
      }
      for _ in 0..<50 {
        var blob = geometry.blob
        blob[random.below(blob.count)] = UInt8.random(in: 0...255, using: &random)
        _ = try said(.blob(blob), in: database)
      }
    }
  }

  @Test(
    "values that are no geometry give NULL",
    arguments: [
      Value.null, .integer(1), .real(1.5), .string("GP"), .blob([]), .blob(Array("GP".utf8)),
      // Another magic, another version, an unknown kind of envelope, an unknown type, and a type without a byte order.
      .blob(hexadecimal("4751 00 01 00000000 01 01000000 0000000000000000 0000000000000000")),
      .blob(hexadecimal("4750 01 01 00000000 01 01000000 0000000000000000 0000000000000000")),
      .blob(hexadecimal("4750 00 0b 00000000 01 01000000 0000000000000000 0000000000000000")),
      .blob(hexadecimal("4750 00 01 00000000 01 63000000 0000000000000000 0000000000000000")),
      .blob(hexadecimal("4750 00 01 00000000 02 01000000 0000000000000000 0000000000000000")),
      // These few bytes claim to have four thousand million points.
      .blob(hexadecimal("4750 00 01 00000000 01 02000000 ffffffff 0000000000000000")),
      .blob(hexadecimal("4750 00 01 00000000 01 07000000 ffffffff 0000000000000000")),
    ])
  func noGeometry(_ value: Value) throws { #expect(try said(value, in: database) == nothing) }

  @Test("collections in collections are followed to the usual depth, and no deeper")
  func depth() throws {
    func nested(_ depth: Int) -> Value {
      let shell = hexadecimal("01 07000000 01000000")
      let point = hexadecimal("01 01000000 0000000000000040 0000000000000840")
      return .blob(hexadecimal("4750 00 01 00000000") + (0..<depth).flatMap { _ in shell } + point)
    }
    #expect(try said(nested(31), in: database) == [.integer(0), .real(2), .real(2), .real(3), .real(3)])
    #expect(try said(nested(32), in: database) == nothing)
    #expect(try said(nested(1_000_000), in: database) == nothing)
  }

  @Test("PostGIS's number of a reference system inside the geometry is passed over")
  func reference() throws {
    let blob = hexadecimal("4750 00 01 00000000 01 01000020 e6100000 0000000000000040 0000000000000840")
    #expect(try said(.blob(blob), in: database) == [.integer(0), .real(2), .real(2), .real(3), .real(3)])
  }

  @Test("an arc reaches further than its points if its circle does")
  func arcs() throws {
    func arc(_ points: [(Double, Double)]) -> Value {
      let numbers = points.flatMap { [$0.0, $0.1] }.flatMap { number in
        withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) }
      }
      return .blob(hexadecimal("4750 00 01 00000000 01 08000000") + [UInt8(points.count), 0, 0, 0] + numbers)
    }
    func close(_ value: Value, _ expected: [Double]) throws -> Bool {
      try zip(said(value, in: database).dropFirst(), expected).allSatisfy { found, expected in
        guard case .real(let number) = found else { return false }
        return abs(number - expected) < 1e-9
      }
    }
    // The first arc goes from the right over a point near the top to the left. The second arc goes on through the
    // bottom. Both are half circles around (10, 0).
    let nearTop = (10 + 5 * cos(1.0), 5 * sin(1.0))
    #expect(try close(arc([(15, 0), nearTop, (5, 0)]), [5, 15, 0, 5]))
    #expect(try close(arc([(15, 0), nearTop, (5, 0), (10, -5), (15, 0)]), [5, 15, -5, 5]))
    // The end of the arc is its beginning, so the arc is a whole circle.
    #expect(try close(arc([(5, 0), (15, 0), (5, 0)]), [5, 15, -5, 5]))
    // An eighth of a circle, which contains no top, bottom, left or right point of the circle.
    let (a, b, c) = ((5 * cos(0.2), 5 * sin(0.2)), (5 * cos(0.5), 5 * sin(0.5)), (5 * cos(0.9), 5 * sin(0.9)))
    #expect(try close(arc([a, b, c]), [c.0, a.0, a.1, c.1]))
  }

  /// GDAL treats a geometry as empty only if its header says so. GDAL cannot read curves whose parts do not join.
  @Test("GDAL gives every geometry that it can read the same bounds")
  func sameAsGDAL() throws {
    let folder = try TemporaryFolder()
    let path = folder("random.gpkg")
    try folder.write(Array("id,name\n1,one\n".utf8), to: "empty.csv")
    try StockTool.ogr2ogr("-f", "GPKG", "random.gpkg", "empty.csv", in: folder.path)
    let seeds = UInt64(10_000)..<10_400
    let file = try Database(path: path, mode: .readWrite)
    try file.execute("CREATE TABLE shapes (id INTEGER PRIMARY KEY, g BLOB)")
    try file.writeTransaction {
      for seed in seeds {
        try file.run(
          "INSERT INTO shapes VALUES (:id, :g)", ["id": .integer(Int64(seed)), "g": .blob(RandomGeometry(seed).blob)])
      }
    }
    let query = """
      SELECT id || ' ' || ifnull(ST_IsEmpty(g), '-') || ' ' || ifnull(ST_MinX(g), '-') || ' ' || ifnull(ST_MaxX(g), '-')
        || ' ' || ifnull(ST_MinY(g), '-') || ' ' || ifnull(ST_MaxY(g), '-') AS said FROM shapes ORDER BY id
      """
    let ours = try file.all(query) { $0.text(0) }
    try folder.write(Array(query.utf8), to: "query.sql")
    let theirs = try StockTool.ogrinfo("-q", "-ro", "random.gpkg", "-sql", "@query.sql", in: folder.path).lines
      .compactMap { $0.split(separator: "(String) = ").dropFirst().first.map(String.init) }
    #expect(ours.count == seeds.count)
    #expect(ours.count == theirs.count)
    let read = zip(ours, theirs).filter { $1.last != "-" }
    #expect(read.count > seeds.count / 2)
    for (our, their) in read { #expect(our == their) }
    for (our, their) in zip(ours, theirs) where our.last == "-" { #expect(their.last == "-") }
  }

  @Test(
    "the bounds are those in the R-trees that GIS tools filled", .enabled(if: Shared.isThere, Shared.absence),
    arguments: Shared.all)
  func sameAsRtree(file: String) throws {
    let folder = try TemporaryFolder()
    try Shared.copy(file, to: folder("a.gpkg"))
    let database = try Database(path: folder("a.gpkg"), mode: .readOnly)
    #expect(try Rtrees.faults(in: database) == [])
    let trees = try Rtrees.all(in: database).count
    #expect(trees > 0)
  }
}
