import SatchelGeometry
import SatchelSQLite
import SatchelValues

/// The geometries of the base, the hub and the device in one column of a conflict, and how they differ.
public struct ConflictGeometries: Sendable {
  public let column: Name
  /// The unit of distances in this column.
  public let unit: MapUnit
  /// The layer of the column; nil if the table is no layer in this database.
  public let layer: Layer?
  public let base: Geometry?
  public let hub: Geometry?
  public let device: Geometry?

  /// nil if no side has a geometry in this column.
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

  /// The geometry in a column of a row; nil if there is none, or if its format is unknown.
  public static func geometry(_ column: Name, in fields: [Field]) -> Geometry? {
    guard case .blob(let bytes)? = fields.first(where: { $0.name == column })?.value else { return nil }
    return StoredGeometry(bytes)?.geometry
  }

  /// The difference between the base's and the hub's geometry.
  public var hubChange: GeometryDifference? { change(from: base, to: hub) }

  /// The difference between the base's and the device's geometry. Without a base: from the hub's geometry.
  public var deviceChange: GeometryDifference? { change(from: base ?? hub, to: device) }

  /// The difference between the base and another geometry, for example the present one. Without a base: from the
  /// hub's geometry.
  public func change(to geometry: Geometry) -> GeometryDifference? { change(from: base ?? hub, to: geometry) }

  private func change(from before: Geometry?, to after: Geometry?) -> GeometryDifference? {
    guard let before, let after else { return nil }
    return GeometryDifference(from: before, to: after)
  }

  /// Describes a change for people, for example `1 of 5 points moved, 7.0 m`. nil if there is no former geometry or
  /// no difference.
  public func words(_ change: GeometryDifference?, of geometry: Geometry?) -> String? {
    guard let change, let geometry else { return nil }
    return change.words(of: geometry, in: unit)
  }
}
