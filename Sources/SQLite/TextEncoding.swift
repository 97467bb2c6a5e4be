import SatchelValues

extension Database {
  /// The file's encoding of texts, if not UTF-8: `UTF-16le` or `UTF-16be`. SQLite changes texts when it reads them from
  /// such a file: it drops a byte order mark and changes ill-formed text, in keys too.
  public func otherTextEncoding() throws -> String? {
    let encoding = try first("PRAGMA main.encoding") { $0.text(0) } ?? "UTF-8"
    return encoding == "UTF-8" ? nil : encoding
  }
}
