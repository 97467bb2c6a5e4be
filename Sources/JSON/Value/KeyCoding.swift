import SatchelValues

/// The bytes of a row's key in tables and files: the JSON array of its values, in the one form of `JSONWriter`. The
/// same bytes mean the same key. The same key may have other bytes if a row spells 1 as 1.0.
public func canonicalKey(_ key: RowKey) -> [UInt8] {
  var writer = JSONWriter(capacity: 48)
  writer.beginArray()
  for value in key.values { writer.value(value) }
  writer.endArray()
  return writer.bytes
}

extension RowKey {
  /// Reads a key from the bytes that `canonicalKey` wrote. Any other spelling of a key is refused.
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
