import SatchelGeometry
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// A column and the value that a person entered for it.
public struct EnteredField: Hashable, Sendable {
  public let name: Name
  public let value: EnteredValue

  public init(_ name: Name, _ value: EnteredValue) {
    self.name = name
    self.value = value
  }
}

/// A value that a person chose or entered.
public enum EnteredValue: Hashable, Sendable {
  /// A value that needs no conversion.
  case known(Value)
  /// Words. The column decides whether they mean a text, a geometry or bytes.
  /// - Parameter file: the path after a leading `@`, if the words may name a file; nil otherwise.
  case words(String, file: String?)
}

/// Converts the values that a person entered for columns of one table.
///
/// Words are stored as text, except in two kinds of columns. The geometry of a layer is entered as well-known text
/// and stored in the layer's format. Bytes are entered as `x'0A0B'`. A file can hold either: `@FILE`.
public struct EnteredValueReader {
  private let table: Name
  private let layers: [Layer]
  /// Columns that are declared for bytes.
  private let blobColumns: [Name]
  private let files: any FileSystem

  /// The most bytes of a file with a value. In base64, these bytes still fit into a line of a bundle.
  static let mostBytes = 32 << 20

  public init(_ table: Name, in database: borrowing Database, files: any FileSystem) throws {
    self.table = table
    self.files = files
    layers = try database.layers().filter { $0.table.isSameInSQL(as: table) }
    let columns = try database.columnDeclarations(of: table)
    blobColumns = try columns.filter { column in
      try column.type.uppercased().hasPart("BLOB") || database.isSpatiaLiteColumn(column.name, of: table)
    }.map(\.name)
  }

  /// Converts the entered values.
  /// - Parameter known: the present and former values of these columns. A text is refused for a column that has or
  ///   had bytes.
  /// - Throws: `WorkspaceError` if a column cannot have its value, `PlatformError` if a file cannot be read.
  public func fields(_ entered: [EnteredField], known: [Field]) throws -> [Field] {
    try entered.map { field in Field(field.name, try value(field, known: known)) }
  }

  private func value(_ field: EnteredField, known: [Field]) throws -> Value {
    guard case .words(let words, let file) = field.value else { return field.value.known }
    if let layer = layers.first(where: { $0.column.isSameInSQL(as: field.name) }) {
      return try .blob(layer.blob(of: GivenGeometry(words, file, files)))
    }
    let holdsBytes =
      blobColumns.contains { $0.isSameInSQL(as: field.name) }
      || known.contains { $0.name.isSameInSQL(as: field.name) && $0.value.isBlob }
    return holdsBytes ? .blob(try bytes(words, file, of: field.name)) : .string(words)
  }

  private func bytes(_ words: String, _ file: String?, of column: Name) throws -> [UInt8] {
    if let file { return try files.read(file, limit: Self.mostBytes) }
    if let bytes = blobLiteral(words) { return bytes }
    throw WorkspaceError(
      .textForBytes, "The column \(column) holds bytes, and \"\(words.prefix(40))\" is text.",
      hint: "Write \(column)=x'0A0B' for bytes, or on the command line \(column)=@FILE for the bytes of a file.")
  }
}

extension EnteredValue {
  fileprivate var known: Value { if case .known(let value) = self { value } else { .null } }
}

extension Value {
  fileprivate var isBlob: Bool { if case .blob = self { true } else { false } }
}

/// The bytes of a literal such as `x'0A0B'`; nil if the words are no such literal.
private func blobLiteral(_ words: String) -> [UInt8]? {
  let bytes = Array(words.utf8)
  guard bytes.count >= 3, bytes[0] | 0x20 == UInt8(ascii: "x"), bytes[1] == UInt8(ascii: "'"),
    bytes.last == UInt8(ascii: "'")
  else { return nil }
  return Hexadecimal.bytes(of: String(decoding: bytes[2..<bytes.count - 1], as: UTF8.self).lowercased())
}

/// A geometry that a person entered, and the place from which it came.
private struct GivenGeometry {
  let geometry: Geometry
  /// The GeoPackage blob, if the person gave one; nil otherwise.
  var blob: [UInt8]?
  /// The number of the reference system inside the entered geometry; nil if it has none.
  var referenceSystem: Int32?
  /// The path of the file, or the beginning of the entered words.
  let source: String

  init(_ words: String, _ file: String?, _ files: any FileSystem) throws {
    let bytes = try file.map { try files.read($0, limit: EnteredValueReader.mostBytes) } ?? blobLiteral(words)
    source = file ?? String(words.prefix(40))
    if let bytes, let stored = StoredGeometry(bytes) {
      geometry = stored.geometry
      blob = stored.form == .geoPackage ? bytes : nil
      referenceSystem = stored.referenceSystem
    } else if let bytes, let binary = Geometry.wellKnownBinary(bytes) {
      (geometry, referenceSystem) = (binary.geometry, binary.referenceSystem)
    } else if let text = bytes.map({ String(validating: $0, as: UTF8.self) }) ?? words {
      geometry = try Self.geometry(of: text, in: source)
    } else {
      throw WorkspaceError(
        .notAGeometry, "The bytes of \(source) are no geometry.", hint: Self.hint)
    }
  }

  private static func geometry(of text: String, in source: String) throws -> Geometry {
    do throws(WKTError) { return try Geometry(wellKnownText: text) } catch {
      throw WorkspaceError(
        .notAGeometry, "\(source) is no geometry: at character \(error.position), \(error.words).", hint: hint)
    }
  }

  private static let hint = """
    Write well-known text such as POINT (7 7), bytes as x'0A0B', or on the command line @FILE. The file has well-known \
    text, WKB or a geometry as a GeoPackage or SpatiaLite stores it.
    """
}

extension Layer {
  /// The geometry in this layer's format.
  /// - Throws: `WorkspaceError` if the geometry does not fit the layer.
  fileprivate func blob(of given: GivenGeometry) throws -> [UInt8] {
    if let refusal = type.refusal(of: given.geometry) {
      throw WorkspaceError(
        .otherGeometry, "The layer \(table) \(refusal).",
        hint: "Write a geometry that the layer accepts: \(given.geometry.wellKnownText.prefix(40)) does not fit it.")
    }
    if let fault = given.geometry.fault {
      throw WorkspaceError(.notAGeometry, "\(given.source) is no sound geometry: \(fault).", hint: "Write it whole.")
    }
    if let system = given.referenceSystem, system > 0, !isCalled(system) {
      throw WorkspaceError(
        .otherReferenceSystem,
        "\(given.source) has the reference system \(system), and the layer \(table) has \(referenceSystem).",
        hint: "Bring it into the layer's system first, for example with: ogr2ogr -t_srs")
    }
    if let blob = given.blob, given.referenceSystem == referenceSystem { return blob }
    return given.geometry.geoPackageBlob(referenceSystem: referenceSystem)
  }

  /// Whether this number means the layer's reference system. A GeoPackage blob has the file's own number; other
  /// formats have the number of the organisation, such as EPSG.
  private func isCalled(_ system: Int32) -> Bool {
    system == referenceSystem || Int64(system) == organizationNumber
  }
}
