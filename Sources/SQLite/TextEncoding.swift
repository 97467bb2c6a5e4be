import SatchelValues

extension Database {
  /// The file's text encoding, if it is not UTF-8: `UTF-16le` or `UTF-16be`. SQLite may change texts that it reads from
  /// such a file, in keys too. It drops a byte order mark and changes ill-formed text.
  public func otherTextEncoding() throws -> String? {
    let encoding = try first("PRAGMA main.encoding") { $0.text(0) } ?? "UTF-8"
    return encoding == "UTF-8" ? nil : encoding
  }
}
