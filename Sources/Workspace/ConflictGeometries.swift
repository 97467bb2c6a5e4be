import SatchelGeometry
import SatchelSQLite
import SatchelValues

/// The geometries that a conflict has in one column, and how far they are from each other.
public struct ConflictGeometries: Sendable {
  public let column: Name
  /// In which distances are measured.
  public let unit: MapUnit
  /// The column's layer; nil: the table is no layer here.
  public let layer: Layer?
  public let base: Geometry?
  public let hub: Geometry?
  public let device: Geometry?

  /// nil: no side has a geometry in this column.
  public init?(_ column: Name, of record: ConflictRecord, layers: [Layer]) {
    func geometry(_ fields: [Field]?) -> Geometry? { fields.flatMap { Self.geometry(column, in: $0) } }
    (base, hub, device) = (
      geometry(record.baseValues), geometry(record.hubValues), geometry(record.deviceValues)
    )
    if base == nil, hub == nil, device == nil { return nil }
    self.column = column
    layer = layers.first { $0.table.isSameInSQL(as: record.table) && $0.column.isSameInSQL(as: column) }
    unit = layer?.unit ?? .unknown
  }

  /// The geometry that a row has in a column; nil: it has none there, or one of a kind that is not known.
  public static func geometry(_ column: Name, in fields: [Field]) -> Geometry? {
    guard case .blob(let bytes)? = fields.first(where: { $0.name == column })?.value else { return nil }
    return StoredGeometry(bytes)?.geometry
  }

  /// From what the hub's geometry became what it is.
  public var hubChange: GeometryDifference? { change(from: base, to: hub) }

  /// From what the device's geometry became what it is: from the hub's, if there was none before.
  public var deviceChange: GeometryDifference? { change(from: base ?? hub, to: device) }

  /// How far another state of the row, such as the present one, is from what was before.
  public func change(to geometry: Geometry) -> GeometryDifference? { change(from: base ?? hub, to: geometry) }

  private func change(from before: Geometry?, to after: Geometry?) -> GeometryDifference? {
    guard let before, let after else { return nil }
    return GeometryDifference(from: before, to: after)
  }

  /// `1 of 5 points moved, 7.0 m`: what a change did; nil: there was nothing before, or nothing differs.
  public func words(_ change: GeometryDifference?, of geometry: Geometry?) -> String? {
    guard let change, let geometry else { return nil }
    return change.words(of: geometry, in: unit)
  }
}
