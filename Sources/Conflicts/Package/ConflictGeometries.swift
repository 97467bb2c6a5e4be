import SatchelGeometry
import SatchelSQLite
import SatchelValues

/// The geometries of a conflict in one column, and the distances between them.
public struct ConflictGeometries: Sendable {
  public let column: Name
  /// The unit of the distances.
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

  /// The geometry of a row in a column; nil: the row has no geometry there, or a geometry of an unknown kind.
  public static func geometry(_ column: Name, in fields: [Field]) -> Geometry? {
    guard case .blob(let bytes)? = fields.first(where: { $0.name == column })?.value else { return nil }
    return StoredGeometry(bytes)?.geometry
  }

  /// The change of the hub's geometry since the base.
  public var hubChange: GeometryDifference? { change(from: base, to: hub) }

  /// The change of the device's geometry since the base, or since the hub's geometry if there is no base.
  public var deviceChange: GeometryDifference? { change(from: base ?? hub, to: device) }

  /// The change from the base to another geometry, such as the row's present geometry. Without a base, the change
  /// begins at the hub's geometry.
  public func change(to geometry: Geometry) -> GeometryDifference? { change(from: base ?? hub, to: geometry) }

  private func change(from before: Geometry?, to after: Geometry?) -> GeometryDifference? {
    guard let before, let after else { return nil }
    return GeometryDifference(from: before, to: after)
  }

  /// Describes a change: `1 of 5 points moved, 7.0 m`; nil: there was no geometry before, or nothing differs.
  public func words(_ change: GeometryDifference?, of geometry: Geometry?) -> String? {
    guard let change, let geometry else { return nil }
    return change.words(of: geometry, in: unit)
  }
}
