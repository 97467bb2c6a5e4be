import SatchelJSON
import SatchelValues

/// A migration as a line of `migrations.jsonl`.
extension Migration {
  func write(into writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("version")
    writer.integer(version)
    writer.key("sql")
    writer.string(sql)
    writer.endObject()
  }

  static func parse(_ line: [UInt8], limits: BundleLimits) throws -> Migration {
    let document = try JSONValue.parse(line, limits: JSONLimits(maxDepth: limits.jsonDepth))
    guard let version = document["version"]?.integerValue, (2...largestCount).contains(version),
      let sql = document["sql"]?.stringValue
    else { throw LineProblem("version or sql is missing or unknown") }
    guard sql.utf8.count <= maximumBytes else { throw LineProblem("its sql is larger than \(maximumBytes) bytes") }
    return Migration(version: version, sql: sql)
  }
}
