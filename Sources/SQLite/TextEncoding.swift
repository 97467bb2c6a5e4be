import SatchelValues

extension Database {
  /// How the file holds texts, if not as UTF-8: `UTF-16le` or `UTF-16be`. SQLite changes texts on their way out of such
  /// a file: a byte order mark goes, and what is no well-formed text becomes another one, in keys too.
  public func otherTextEncoding() throws -> String? {
    let encoding = try first("PRAGMA main.encoding") { $0.text(0) } ?? "UTF-8"
    return encoding == "UTF-8" ? nil : encoding
  }
}
