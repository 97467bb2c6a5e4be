import CSQLite
import SatchelGeometry

/// The five SQL functions that the triggers of a GeoPackage's R-tree call. SQLite itself does not have these functions.
/// Each function takes a geometry in the form of the GeoPackage standard or SpatiaLite. For any other value, the result
/// is NULL.
private enum GeometryFunction: Int, CaseIterable {
  // The numbers begin with 1, because SQLite passes each number as a pointer, and 0 would be a null pointer.
  case isEmpty = 1
  case minX, maxX, minY, maxY

  var name: String {
    switch self {
    case .isEmpty: "ST_IsEmpty"
    case .minX: "ST_MinX"
    case .maxX: "ST_MaxX"
    case .minY: "ST_MinY"
    case .maxY: "ST_MaxY"
    }
  }

  func answer(_ geometry: GeometryBlob, to context: OpaquePointer?) {
    guard self != .isEmpty else { return sqlite3_result_int(context, geometry.isEmpty ? 1 : 0) }
    guard let bounds = geometry.bounds else { return sqlite3_result_null(context) }
    switch self {
    case .minX: sqlite3_result_double(context, bounds.minX)
    case .maxX: sqlite3_result_double(context, bounds.maxX)
    case .minY: sqlite3_result_double(context, bounds.minY)
    default: sqlite3_result_double(context, bounds.maxY)
    }
  }
}

/// Adds the geometry functions to a connection that is just being opened.
///
/// The functions are marked as innocuous. So triggers of a database whose schema is not trusted may call them.
func addGeometryFunctions(to handle: OpaquePointer) {
  for function in GeometryFunction.allCases {
    sqlite3_create_function_v2(
      handle, function.name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
      UnsafeMutableRawPointer(bitPattern: function.rawValue),
      { context, _, arguments in
        guard let function = GeometryFunction(rawValue: Int(bitPattern: sqlite3_user_data(context))),
          let geometry = storedGeometry(arguments?[0])
        else { return sqlite3_result_null(context) }
        function.answer(geometry, to: context)
      }, nil, nil, nil)
  }
}

/// The geometry in an argument of a function; nil: the value is no geometry.
func storedGeometry(_ value: OpaquePointer?) -> GeometryBlob? {
  guard sqlite3_value_type(value) == SQLITE_BLOB, let start = sqlite3_value_blob(value) else { return nil }
  let bytes = UnsafeBufferPointer(
    start: start.assumingMemoryBound(to: UInt8.self), count: Int(sqlite3_value_bytes(value)))
  return GeometryBlob(bytes.span)
}
