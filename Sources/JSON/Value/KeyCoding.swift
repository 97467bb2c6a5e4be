import SatchelValues

/// The bytes of a row's key in tables and files: the JSON array of its values, as `JSONWriter` writes it. Equal bytes
/// mean equal keys. The reverse is not always true: one row may spell 1 as 1.0, and its key then has other bytes.
public func canonicalKey(_ key: RowKey) -> [UInt8] {
  var writer = JSONWriter(capacity: 48)
  writer.beginArray()
  for value in key.values { writer.value(value) }
  writer.endArray()
  return writer.bytes
}

extension RowKey {
  /// Reads a key from bytes that `canonicalKey` wrote. Throws if the bytes have another spelling.
  public init(canonical bytes: [UInt8]) throws(JSONError) {
    var scanner = JSONScanner(bytes)
    var values: [Value] = []
    try scanner.beginArray()
    while try scanner.nextElement() { values.append(try scanner.readValue()) }
    try scanner.finish()
    let key = RowKey(values)
    guard canonicalKey(key) == bytes else { throw JSONError(offset: 0, reason: "a key that is not canonical") }
    self = key
  }
}
