/// The path of a file below a workspace's `files/`, as a row names the file. It has names of folders and the file's
/// name, joined by `/`. Any medium can hold each name.
public struct AttachmentPath: Hashable, Comparable, Sendable, CustomStringConvertible {
  private let name: Name

  public static let mostBytes = 512
  /// The limit for one name, in bytes. Media allow 255, but a file that is kept beside another file gets a longer name.
  static let mostNameBytes = 200

  /// nil: the text is no such path. An absolute path is refused, and a path with `..`. A name may not begin with a
  /// point, and may not have characters that media refuse.
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
    // Windows gives these names to devices, whatever ending follows. It also drops spaces before the ending.
    var beginning = bytes.prefix { $0 != point }.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
    while beginning.last == space { beginning.removeLast() }
    return !isReserved(beginning)
  }

  public var text: String { name.text }
  public var description: String { text }

  public static func < (a: AttachmentPath, b: AttachmentPath) -> Bool { a.name < b.name }

  /// The names of the folders from the top, and then the file's own name.
  public var names: [String] {
    text.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: Array($0), as: UTF8.self) }
  }

  /// The path of a second file that is kept beside this file. It is in the same folder, and `~` and the beginning of
  /// the digest are before the ending.
  /// - Parameter digest: the digest of the second file.
  public func beside(_ digest: some StringProtocol) -> AttachmentPath? {
    let bytes = Array(text.utf8)
    let folder = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    let ending = bytes[folder...].lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
    let mark = "~\(digest.prefix(12))"
    return AttachmentPath(String(decoding: bytes[..<ending] + Array(mark.utf8) + bytes[ending...], as: UTF8.self))
  }

  private static let contentPrefix = "file~"
  /// Enough of a digest: no other content with the same beginning can be found.
  private static let contentDigits = 40

  /// The path where a content is kept if no other place is free: in no folder, by its digest.
  public static func ofContent(_ digest: some StringProtocol) -> AttachmentPath? {
    AttachmentPath("\(contentPrefix)\(digest.prefix(contentDigits))")
  }

  /// Whether the path is the place of this content and of no other.
  public func isPlace(ofContent digest: some StringProtocol) -> Bool { self == Self.ofContent(digest) }

  /// Whether the path is the place of some content, or leads through it. Some media do not distinguish capitals.
  public var isLikeContentName: Bool {
    guard let first = names.first?.lowercased(), first.hasPrefix(Self.contentPrefix) else { return false }
    let digits = first.utf8.dropFirst(Self.contentPrefix.utf8.count)
    return digits.count == Self.contentDigits && digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}

extension AttachmentPath {
  /// The path in a column's value; nil: the value is no path.
  public init?(_ value: Value) {
    guard case .text(let bytes) = value, let text = String(validating: bytes, as: UTF8.self) else { return nil }
    self.init(text)
  }
}
