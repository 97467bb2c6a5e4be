import SatchelBundle
import SatchelGeometry
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// The content of a GeoPackage of conflicts.
public struct ConflictPackageReport: Sendable {
  public var layers: [Name] = []
  public var features = 0
  /// The number of values that were left out because they are no valid geometry.
  public var leftOut = 0
}

/// Writes the geometries of conflicts into a GeoPackage, so that people can see them in a GIS. For each table the
/// file has up to three layers: base, hub and device.
///
/// The file follows the GeoPackage standard, version 1.2. Each geometry is parsed and written again, so no untrusted
/// bytes get into the file.
public struct ConflictPackage {
  private enum Side: String, CaseIterable {
    case before, hub, device

    func values(_ record: ConflictRecord) -> [Field]? {
      switch self {
      case .before: record.baseValues
      case .hub: record.hubValues
      case .device: record.deviceValues
      }
    }
  }

  private struct Feature {
    let conflict: StoredConflict
    let geometry: Geometry
    let words: String?
  }

  private let conflicts: [StoredConflict]
  private let known: [Layer]
  private let devices: [ReplicaID: String]

  /// - Parameter devices: the names of devices by their ids.
  public init(_ conflicts: [StoredConflict], layers: [Layer], devices: [ReplicaID: String]) {
    self.conflicts = conflicts
    known = layers
    self.devices = devices
  }

  /// Whether a conflict has values that may be geometries.
  public static func mayHaveFeatures(_ conflict: StoredConflict) -> Bool {
    Side.allCases.contains { side in
      side.values(conflict.record)?.contains { if case .blob = $0.value { true } else { false } } ?? false
    }
  }

  /// Writes the file. No file may exist at `path` yet.
  /// - Returns: counts of what was written.
  /// - Parameters:
  ///   - source: the database from which the reference systems of the layers are read.
  ///   - folder: the folder for the temporary file, which later gets its name at `path`.
  public func write(
    to path: String, systemsOf source: borrowing Database, aside folder: String, platform: Platform
  ) throws -> ConflictPackageReport {
    guard try platform.files.kind(path) == nil else {
      throw WorkspaceError(.exists, "There is something at \(path) already.", hint: "Give the file another name.")
    }
    let staging = try StagingFolder(in: folder, platform: platform)
    let aside = staging.file("conflicts.gpkg")
    let report = try fill(aside, source, now: Self.time(platform.clock.milliseconds()))
    if report.features == 0 {
      throw WorkspaceError(
        .noGeometries, "No conflict has a geometry, so there is nothing to write.",
        hint: "All conflicts as CSV: conflicts export")
    }
    try platform.files.deliver(aside, to: path, mode: 0o644)
    return report
  }

  /// The given time in the format of the GeoPackage standard.
  private static func time(_ milliseconds: Int64) -> String {
    UTCTime.text(milliseconds: milliseconds).dropLast() + ".000Z"
  }

  private func fill(_ path: String, _ source: borrowing Database, now: String) throws -> ConflictPackageReport {
    let database = try Database(path: path, mode: .create)
    var report = ConflictPackageReport()
    try database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; \(Self.schema)")
    let tables = Dictionary(grouping: conflicts, by: \.record.table).sorted { $0.key < $1.key }
    try database.writeTransaction {
      try addReferenceSystems(from: source, to: database)
      for (table, conflicts) in tables {
        for side in Side.allCases {
          let features = conflicts.flatMap { self.features(of: $0, side, &report) }
          if !features.isEmpty {
            try add(features, Name("\(table) \(side.rawValue)"), of: table, now, database, &report)
          }
        }
      }
    }
    return report
  }

  /// The geometries of one side of a conflict. If the table is a layer in this database, only the layer's column
  /// counts, otherwise each column.
  private func features(of conflict: StoredConflict, _ side: Side, _ report: inout ConflictPackageReport) -> [Feature] {
    let record = conflict.record
    let layer = layer(of: record.table)
    return (side.values(record) ?? []).compactMap { field -> Feature? in
      guard case .blob = field.value, layer?.column.isSameInSQL(as: field.name) ?? true else { return nil }
      guard let geometries = ConflictGeometries(field.name, of: record, layers: known),
        let geometry = ConflictGeometries.geometry(field.name, in: [field]), geometry.fault == nil
      else {
        if layer != nil { report.leftOut += 1 }
        return nil
      }
      let change = side == .before ? nil : side == .hub ? geometries.hubChange : geometries.deviceChange
      return Feature(conflict: conflict, geometry: geometry, words: geometries.words(change, of: geometry))
    }
  }

  private func layer(of table: Name) -> Layer? { known.first { $0.table.isSameInSQL(as: table) } }

  private func add(
    _ features: [Feature], _ name: Name, of table: Name, _ now: String, _ database: borrowing Database,
    _ report: inout ConflictPackageReport
  ) throws {
    let system = layer(of: table)?.referenceSystem ?? -1
    try database.execute(Self.layerSchema(name))
    try declare(name, features.map(\.geometry), system, now, in: database)
    let insertion = try database.prepare("INSERT INTO \(quoted(name)) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    for feature in features { try insertion.run(values(of: feature, system)) }
    report.layers.append(name)
    report.features += features.count
  }

  private func values(of feature: Feature, _ system: Int32) -> [Value] {
    let record = feature.conflict.record
    let texts: [String?] = [
      record.id.text, String(decoding: canonicalKey(record.key), as: UTF8.self), record.state.rawValue,
      record.kind.rawValue, devices[record.device] ?? record.device.text, record.user,
      UTCTime.text(milliseconds: record.stamp.milliseconds), feature.words, record.note,
    ]
    return [.blob(feature.geometry.geoPackageBlob(referenceSystem: system))]
      + texts.map { $0.map { .string($0) } ?? .null }
  }

  private func declare(
    _ name: Name, _ geometries: [Geometry], _ system: Int32, _ now: String, in database: borrowing Database
  ) throws {
    let boxes = geometries.compactMap { GeometryBounds(of: $0) }
    func side(_ value: Double?) -> Value { value.map { .real($0) } ?? .null }
    try database.run(
      """
      INSERT INTO gpkg_contents (table_name, data_type, identifier, last_change, min_x, min_y, max_x, max_y, srs_id)
      VALUES (:name, 'features', :name, :now, :x0, :y0, :x1, :y1, :system)
      """,
      [
        "name": .string(name.text), "now": .string(now), "system": .integer(Int64(system)),
        "x0": side(boxes.map(\.minX).min()), "y0": side(boxes.map(\.minY).min()), "x1": side(boxes.map(\.maxX).max()),
        "y1": side(boxes.map(\.maxY).max()),
      ])
    // The type is the most general one. A table that left the dataset may have changed the kind and the dimensions of
    // its geometries since.
    try database.run(
      "INSERT INTO gpkg_geometry_columns VALUES (:name, 'geom', 'GEOMETRY', :system, 2, 2)",
      ["name": .string(name.text), "system": .integer(Int64(system))])
    for kind in GeometryKind.allCases where kind.isExtension && geometries.contains(where: { $0.kinds.contains(kind) })
    {
      try database.run(
        """
        INSERT INTO gpkg_extensions
        VALUES (:name, 'geom', 'gpkg_geom_' || :word, 'http://www.geopackage.org/spec121/#extension_geometry_types',
          'read-write')
        """, ["name": .string(name.text), "word": .string(kind.word)])
    }
  }

  private func addReferenceSystems(from source: borrowing Database, to database: borrowing Database) throws {
    for system in Set(known.map(\.referenceSystem)).sorted() where ![-1, 0, 4326].contains(system) {
      let row = try source.first(
        """
        SELECT srs_name, srs_id, organization, organization_coordsys_id, definition
        FROM gpkg_spatial_ref_sys
        WHERE srs_id = :id
        """, ["id": .integer(Int64(system))]
      ) { $0.values(from: 0, count: 5) }
      let unknown: [Value] = [
        .string("unknown \(system)"), .integer(Int64(system)), .string("NONE"), .integer(Int64(system)),
        .string("undefined"),
      ]
      try database.prepare("INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)").run(row ?? unknown)
    }
  }
}

extension GeometryKind {
  /// Whether a GeoPackage must list the kind as an extension.
  fileprivate var isExtension: Bool { rawValue > 7 }
}
