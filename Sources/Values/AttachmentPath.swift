/// The path of a file below a workspace's `files/`, as a row names it: names of folders and the file's name, joined by
/// `/`. Any medium can hold each name.
public struct AttachmentPath: Hashable, Comparable, Sendable, CustomStringConvertible {
  private let name: Name

  public static let mostBytes = 512
  /// The limit for one name: a file that is kept beside another one has a longer name, and media allow 255.
  static let mostNameBytes = 200

  /// nil if the text is no such path: an absolute one, one with `..`, with a name that begins with a point, or with
  /// characters that media refuse.
  public init?(_ text: String) {
    guard text.utf8.count <= Self.mostBytes else { return nil }
    let names = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard names.allSatisfy({ Self.isName(Array($0)) }), isWithoutControls(text) else { return nil }
    name = Name(text)
  }

  private static func isName(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first, let last = bytes.last, bytes.count <= mostNameBytes else { return false }
    let (point, space) = (UInt8(ascii: "."), UInt8(ascii: " "))
    if first == point || first == space || last == point || last == space { return false }
    if bytes.contains(where: { #"\:*?"<>|"#.utf8.contains($0) }) { return false }
    // Windows gives these names to devices whatever ending follows, and drops spaces before it.
    var beginning = bytes.prefix { $0 != point }.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
    while beginning.last == space { beginning.removeLast() }
    return !isReserved(beginning)
  }

  public var text: String { name.text }
  public var description: String { text }

  public static func < (a: AttachmentPath, b: AttachmentPath) -> Bool { a.name < b.name }

  /// The names on the way, the file's own name last.
  public var names: [String] {
    text.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: Array($0), as: UTF8.self) }
  }

  /// The path for another content of this path: in the same folder, with `~` and the beginning of the digest before the
  /// ending.
  public func beside(_ digest: some StringProtocol) -> AttachmentPath? {
    let bytes = Array(text.utf8)
    let folder = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    let ending = bytes[folder...].lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
    let mark = "~\(digest.prefix(12))"
    return AttachmentPath(String(decoding: bytes[..<ending] + Array(mark.utf8) + bytes[ending...], as: UTF8.self))
  }
}

extension AttachmentPath {
  /// The path in a column; nil if it holds none.
  public init?(_ value: Value) {
    guard case .text(let bytes) = value, let text = String(validating: bytes, as: UTF8.self) else { return nil }
    self.init(text)
  }
}
