/// Whether a geometry in a database is empty, and its bounds, read from as few bytes as possible.
///
/// The blob has the form of GeoPackage or of SpatiaLite. GeoPackage's form is a header and WKB (well-known binary). The
/// header has the bounds if the writer stored them.
///
/// The bytes are untrusted. Therefore no read goes beyond their end, and nesting is limited to `Geometry.maximumDepth`.
public struct GeometryBlob: Sendable {
  public let isEmpty: Bool
  /// The box of the geometry; nil: the geometry is empty.
  public let bounds: GeometryBounds?

  /// Reads the properties from a blob; nil: the bytes are no geometry.
  public init?(_ bytes: Span<UInt8>) {
    if let header = GeoPackageHeader(bytes) {
      if header.isEmpty {
        self.init(isEmpty: true, bounds: nil)
      } else if let bounds = header.bounds {
        self.init(isEmpty: false, bounds: bounds)
      } else {
        self.init(try? header.geometry(bytes))
      }
      return
    }
    guard var reader = SpatiaLiteReader(bytes) else { return nil }
    if let answer = reader.shortAnswer(bytes) {
      self.init(isEmpty: answer.isEmpty, bounds: answer.bounds)
    } else {
      self.init(try? reader.geometry(bytes))
    }
  }

  private init(isEmpty: Bool, bounds: GeometryBounds?) { (self.isEmpty, self.bounds) = (isEmpty, bounds) }

  private init?(_ geometry: Geometry?) {
    guard let geometry else { return nil }
    bounds = GeometryBounds(of: geometry)
    isEmpty = bounds == nil
  }
}

/// A geometry in a blob, with all its positions.
public struct StoredGeometry: Sendable {
  public enum Form: Sendable { case geoPackage, spatiaLite }

  public let geometry: Geometry
  public let form: Form
  /// The number of the reference system, as the blob has it.
  public let referenceSystem: Int32

  /// Reads the geometry in a blob. nil: the bytes have neither form, or the geometry's kind is unknown.
  public init?(_ blob: [UInt8]) {
    let bytes = blob.span
    if let header = GeoPackageHeader(bytes) {
      guard let geometry = try? header.geometry(bytes) else { return nil }
      (self.geometry, form, referenceSystem) = (geometry, .geoPackage, header.referenceSystem)
    } else {
      guard var reader = SpatiaLiteReader(bytes), let geometry = try? reader.geometry(bytes) else { return nil }
      (self.geometry, form, referenceSystem) = (geometry, .spatiaLite, reader.referenceSystem)
    }
  }
}

/// The header of a blob in a GeoPackage: "GP", a version, flags, the reference system, and the numbers of the bounds.
struct GeoPackageHeader {
  let referenceSystem: Int32
  let isEmpty: Bool
  /// The bounds of the geometry; nil: the header has no bounds, or its numbers make no box.
  let bounds: GeometryBounds?
  /// The position of the WKB in the blob; nil: the content has the form of an extension, and no WKB.
  private let start: Int?

  /// Reads the header; nil: the bytes do not begin with such a header.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= 8, bytes[0] == UInt8(ascii: "G"), bytes[1] == UInt8(ascii: "P"), bytes[2] == 0 else {
      return nil
    }
    let flags = bytes[3]
    var reader = ByteReader(from: 4, to: bytes.count, isLittleEndian: flags & 1 != 0)
    do throws(UnreadableGeometry) {
      referenceSystem = Int32(bitPattern: try reader.integer(bytes))
      bounds = try Self.box(bytes, flags >> 1 & 7, &reader)
    } catch { return nil }
    isEmpty = flags & 0x10 != 0
    start = flags & 0x20 == 0 ? reader.place : nil
  }

  /// Reads the bounds of x and y, and skips the bounds of Z and M.
  /// - Parameter code: which bounds the header has. 0: none; 1: x and y; 2: x, y and Z; 3: x, y and M; 4: x, y, Z and
  ///   M.
  private static func box(
    _ bytes: Span<UInt8>, _ code: UInt8, _ reader: inout ByteReader
  ) throws(UnreadableGeometry) -> GeometryBounds? {
    guard code < 5 else { throw UnreadableGeometry() }
    if code == 0 { return nil }
    let (minX, maxX) = (try reader.double(bytes), try reader.double(bytes))
    let (minY, maxY) = (try reader.double(bytes), try reader.double(bytes))
    for _ in 0..<(code == 1 ? 0 : code == 4 ? 4 : 2) { _ = try reader.double(bytes) }
    return GeometryBounds(minX: minX, maxX: maxX, minY: minY, maxY: maxY)
  }

  func geometry(_ bytes: Span<UInt8>) throws(UnreadableGeometry) -> Geometry {
    guard let start else { throw UnreadableGeometry() }
    var reader = WKBReader(from: start, to: bytes.count)
    return try reader.geometry(bytes)
  }
}
