import SatchelPlatform

extension WebRequest {
  /// A required field of a form or an address. Throws a `UsageError` if it is missing or empty.
  func needed(_ name: String) throws -> String {
    guard let value = value(name), !value.isEmpty else { throw UsageError("the field \(name) is empty") }
    return value
  }

  /// Like `value`, but nil for an empty field.
  func filled(_ name: String) -> String? { value(name).flatMap { $0.isEmpty ? nil : $0 } }

  /// The number of the requested page of a list, from 1.
  var page: Int64 { min(max(1, value("page").flatMap { Int64($0) } ?? 1), Int64(Int32.max)) }

  /// The values of a name that occurs several times in the address or in the form.
  func all(_ name: String) -> [String] {
    query.filter { $0.name == name }.map(\.value) + form.filter { $0.name == name }.map(\.text)
  }
}

/// Text, encoded as a part of an address.
func percentEncoded(_ text: String) -> String {
  let plain = Array("-._~".utf8)
  return text.utf8.map { byte in
    let isPlain =
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || plain.contains(byte)
    return isPlain
      ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }.joined()
}
