/// Functions on paths as text. They do not use the file system.
public enum Paths {
  /// The path `b` in the folder `a`. If `b` is absolute, the result is `b`.
  public static func join(_ a: String, _ b: String) -> String {
    if a.isEmpty || isAbsolute(b) { return b }
    if b.isEmpty { return a }
    return a.utf8.last == slash ? a + b : a + "/" + b
  }

  /// The folder that contains `path`: `.` for a name alone, `/` for the root.
  public static func parent(of path: String) -> String {
    let bytes = trimmed(path)
    guard let cut = bytes.lastIndex(of: slash) else { return bytes.isEmpty && isAbsolute(path) ? "/" : "." }
    let parent = trimmed(bytes[..<cut])
    return parent.isEmpty ? "/" : text(parent)
  }

  /// The last part of `path`; empty for the root.
  public static func name(of path: String) -> String {
    let bytes = trimmed(path)
    guard let cut = bytes.lastIndex(of: slash) else { return text(bytes) }
    return text(bytes[bytes.index(after: cut)...])
  }

  /// The absolute form of `path`, without `.` and without doubled slashes. `..` is kept: behind a link it does not
  /// mean the folder before it in the text.
  public static func absolute(_ path: String, currentDirectory: String) -> String {
    if isClean(path) { return path }
    let parts = join(currentDirectory, path).utf8.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }
    return "/" + parts.map { text($0) }.joined(separator: "/")
  }

  /// Whether a path is absolute, without superfluous slashes and without the part `.`.
  private static func isClean(_ path: String) -> Bool {
    guard path.utf8.first == slash, path.utf8.last != slash else { return path == "/" }
    var before = (slash, slash)
    for byte in path.utf8.dropFirst() {
      if byte == slash, before.1 == slash || before == (slash, UInt8(ascii: ".")) { return false }
      before = (before.1, byte)
    }
    return before != (slash, UInt8(ascii: "."))
  }

  public static func isAbsolute(_ path: String) -> Bool { path.utf8.first == slash }

  // Bytes are compared, and not characters. A slash with a combining mark is one character, but the system still
  // treats it as a separator.
  private static let slash = UInt8(ascii: "/")

  private static func text(_ bytes: Substring.UTF8View) -> String { String(Substring(bytes)) }

  private static func trimmed(_ path: String) -> Substring.UTF8View { trimmed(path[...].utf8) }

  private static func trimmed(_ bytes: Substring.UTF8View) -> Substring.UTF8View {
    var bytes = bytes
    while bytes.last == slash { bytes.removeLast() }
    return bytes
  }
}
