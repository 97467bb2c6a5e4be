import CSQLite
import SatchelGeometry
import SatchelValues

/// The faults in the R-tree of a layer. GIS tools use the R-tree to find features.
public struct SpatialIndexFault: Sendable {
  public let layer: Layer
  /// The number of features that have no entry.
  public internal(set) var lacking = 0
  /// The number of entries whose feature is missing or has no geometry.
  public internal(set) var excess = 0
  /// The number of entries whose box differs from the box of their feature.
  public internal(set) var otherBoxes = 0
  /// The number of features with a text or a number in place of a geometry.
  public internal(set) var noGeometries = 0

  /// Whether the R-tree is wrong.
  public var isOfIndex: Bool { lacking + excess + otherBoxes > 0 }
}

extension Database {
  /// Compares the R-tree of each layer among these tables with the layer's geometries. Reads each layer once.
  ///
  /// A blob with an unknown kind of geometry is not checked, because another program may know this kind.
  public func spatialIndexFaults(of tables: [Name]) throws -> [SpatialIndexFault] {
    try spatialIndexes(of: tables).compactMap { index in
      try withBoxState {
        var fault = SpatialIndexFault(layer: index.layer)
        var found = 0
        try each("SELECT \(index.state), r.\(index.id), typeof(\(index.geometry)) FROM \(index.featuresFirst)") { row in
          switch BoxState(rawValue: Int32(truncatingIfNeeded: row.integer(0))) {
          case .lacking: fault.lacking += 1
          case .excess: fault.excess += 1
          case .otherBox: fault.otherBoxes += 1
          case .right, nil: break
          }
          if !row.isNull(1) { found += 1 }
          if !["blob", "null"].contains(row.text(2)) { fault.noGeometries += 1 }
        }
        let entries = try first("SELECT count(*) FROM \(index.name)") { Int($0.integer(0)) } ?? 0
        fault.excess += max(0, entries - found)
        return fault.isOfIndex || fault.noGeometries > 0 ? fault : nil
      }
    }
  }

  /// The fault that SQLite finds inside the R-tree of a table, in SQLite's words; nil: SQLite finds no fault, or the
  /// table has no R-tree.
  ///
  /// An R-tree with such a fault cannot be repaired by correcting single entries.
  public func brokenSpatialIndex(of table: Name) throws -> String? {
    do {
      guard let index = try spatialIndexes(of: [table]).first else { return nil }
      let words = try first("SELECT rtreecheck('main', :name)", ["name": .string(index.layer.spatialIndex.text)]) {
        $0.text(0)
      }
      return words == "ok" ? nil : words.map { String($0.prefix { $0 != "\n" }) }
    } catch let error as SQLiteError where error.kind == .corrupt { return error.message }
  }

  /// Repairs the R-trees of these tables: removes wrong entries and adds missing entries. It also widens the layers'
  /// bounds in `gpkg_contents`, as an import does. The caller holds a write transaction.
  /// - Parameter tracked: all tables of the dataset. If `gpkg_contents` is among them, the bounds in it stay as they
  ///   are.
  /// - Returns: the faults that were repaired.
  public func mendSpatialIndexes(of tables: [Name], among tracked: [Name]) throws -> [SpatialIndexFault] {
    let faults = try spatialIndexFaults(of: tables)
    let keepsContents = try keepsContents(tracked)
    for index in try spatialIndexes(of: tables)
    where faults.contains(where: { $0.layer.spatialIndex == index.layer.spatialIndex }) {
      try withBoxState {
        if keepsContents { try widenBounds(index) }
        try execute(index.deletion)
        try execute(index.insertion)
      }
    }
    return faults
  }

  private func widenBounds(_ index: SpatialIndex) throws {
    try run(
      """
      UPDATE gpkg_contents
      SET last_change = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
        min_x = min(coalesce(min_x, box.x0), coalesce(box.x0, min_x)),
        min_y = min(coalesce(min_y, box.y0), coalesce(box.y0, min_y)),
        max_x = max(coalesce(max_x, box.x1), coalesce(box.x1, max_x)),
        max_y = max(coalesce(max_y, box.y1), coalesce(box.y1, max_y))
      FROM (
        SELECT min(ST_MinX(\(index.geometry))) AS x0, max(ST_MaxX(\(index.geometry))) AS x1,
          min(ST_MinY(\(index.geometry))) AS y0, max(ST_MaxY(\(index.geometry))) AS y1
        FROM \(index.featuresFirst)
        WHERE \(index.state) IN (\(BoxState.lacking.rawValue), \(BoxState.otherBox.rawValue))
      ) AS box
      WHERE lower(table_name) = lower(:table)
      """, ["table": .string(index.layer.table.text)])
  }

  /// The existing R-trees of these tables.
  func spatialIndexes(of tables: [Name]) throws -> [SpatialIndex] {
    try layers().filter { layer in tables.contains { $0.isSameInSQL(as: layer.table) } }.compactMap { layer in
      let isThere = try first(
        """
        SELECT 1
        FROM sqlite_schema
        WHERE type = 'table' AND name = :name COLLATE NOCASE AND rootpage = 0 AND sql LIKE '%rtree%'
        """, ["name": .string(layer.spatialIndex.text)]
      ) { _ in true }
      guard isThere == true, let rowid = try tableInfo(layer.table)?.rowid,
        let columns = try tableShape(layer.spatialIndex)?.columns, columns.count >= 5
      else { return nil }
      return SpatialIndex(layer: layer, rowid: rowid, columns: columns.prefix(5).map(quoted))
    }
  }

  /// Runs `body` with a function that compares a geometry with its entry in an R-tree.
  private func withBoxState<T>(_ body: () throws -> T) throws -> T {
    sqlite3_create_function_v2(
      handle, SpatialIndex.function, 6, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
      { context, _, arguments in sqlite3_result_int(context, BoxState(arguments).rawValue) }, nil, nil, nil)
    defer { sqlite3_create_function_v2(handle, SpatialIndex.function, 6, SQLITE_UTF8, nil, nil, nil, nil, nil) }
    return try body()
  }
}

/// Parts of SQL about a layer and its R-tree. In this SQL, the layer is `t` and the R-tree is `r`.
struct SpatialIndex {
  fileprivate static let function = "satchel_box_state"

  let layer: Layer
  /// The name by which SQL reaches the rowid of a feature.
  let rowid: String
  /// The R-tree's columns: the feature's number, the least and the greatest x, the least and the greatest y.
  let columns: [String]

  var name: String { quoted(layer.spatialIndex) }
  var id: String { columns[0] }
  var geometry: String { "t.\(quoted(layer.column))" }
  private var table: String { quoted(layer.table) }

  /// SQL that computes the `BoxState` of an entry.
  fileprivate var state: String {
    "\(Self.function)(\(geometry), \(columns.map { "r.\($0)" }.joined(separator: ", ")))"
  }

  fileprivate var featuresFirst: String { "\(table) AS t LEFT JOIN \(name) AS r ON r.\(id) = t.\(rowid)" }

  fileprivate var deletion: String {
    """
    DELETE FROM \(name)
    WHERE \(id) IN (
      SELECT r.\(id)
      FROM \(name) AS r LEFT JOIN \(table) AS t ON t.\(rowid) = r.\(id)
      WHERE \(state) IN (\(BoxState.excess.rawValue), \(BoxState.otherBox.rawValue)))
    """
  }

  fileprivate var insertion: String {
    """
    INSERT INTO \(name) (\(columns.joined(separator: ", ")))
    SELECT t.\(rowid), ST_MinX(\(geometry)), ST_MaxX(\(geometry)), ST_MinY(\(geometry)), ST_MaxY(\(geometry))
    FROM \(featuresFirst)
    WHERE \(state) = \(BoxState.lacking.rawValue)
    """
  }
}

/// Whether an entry of an R-tree agrees with its feature's geometry.
private enum BoxState: Int32 {
  case right, lacking, excess, otherBox

  /// - Parameter arguments: the geometry, then the entry's number and its four sides. If there is no entry, the last
  ///   five are NULL.
  init(_ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    let hasEntry = sqlite3_value_type(arguments?[1]) != SQLITE_NULL
    guard let geometry = storedGeometry(arguments?[0]) else {
      let isUnknown = sqlite3_value_type(arguments?[0]) == SQLITE_BLOB
      self = hasEntry && !isUnknown ? .excess : .right
      return
    }
    guard let bounds = geometry.bounds else {
      self = hasEntry ? .excess : .right
      return
    }
    guard hasEntry else {
      self = .lacking
      return
    }
    let sides = (2...5).map { sqlite3_value_double(arguments?[$0]) }
    let wanted = [
      roundedDown(bounds.minX), roundedUp(bounds.maxX), roundedDown(bounds.minY), roundedUp(bounds.maxY),
    ]
    self = zip(sides, wanted).allSatisfy(Self.isNear) ? .right : .otherBox
  }

  /// Whether a side has the wanted value, or the next 32-bit number above or below it. The tolerance is needed because
  /// other programs may compute the bounds of an arc differently.
  private static func isNear(_ side: Double, _ wanted: Float) -> Bool {
    side >= Double(wanted.nextDown) && side <= Double(wanted.nextUp)
  }
}

/// The least side of a box as SQLite's R-tree stores it: a 32-bit number that is never above the given number.
private func roundedDown(_ number: Double) -> Float {
  let short = Float(number)
  return Double(short) > number ? Float(number * (number < 0 ? awayFromZero : towardsZero)) : short
}

/// The greatest side of a box as SQLite's R-tree stores it: a 32-bit number that is never below the given number.
private func roundedUp(_ number: Double) -> Float {
  let short = Float(number)
  return Double(short) < number ? Float(number * (number < 0 ? towardsZero : awayFromZero)) : short
}

/// The factors by which SQLite rounds such sides in `rtree.c`.
private let towardsZero = 1 - 1 / 8_388_608.0
private let awayFromZero = 1 + 1 / 8_388_608.0
