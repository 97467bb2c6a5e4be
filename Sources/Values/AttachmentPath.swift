/// The path of an attachment below a workspace's `files/`, as a row has it. It consists of names of folders and the
/// file's name, joined by `/`. Each name is allowed on any medium.
public struct AttachmentPath: Hashable, Comparable, Sendable, CustomStringConvertible {
  private let name: Name

  public static let mostBytes = 512
  /// The most bytes of one name. Media allow 255 bytes, but a file that is kept beside another file gets a longer
  /// name.
  static let mostNameBytes = 200

  /// nil if the text is no such path. Absolute paths and `..` are refused. A name may not begin or end with a point,
  /// and may not have characters that media refuse.
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
    // Windows reserves these names for devices, with any ending. It also ignores spaces before the ending.
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

  /// The path of a second file that is kept beside this file, in the same folder. Its name has `~` and the beginning
  /// of the digest before the ending.
  /// - Parameter digest: the digest of the second file.
  public func beside(_ digest: some StringProtocol) -> AttachmentPath? {
    let bytes = Array(text.utf8)
    let folder = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    let ending = bytes[folder...].lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
    let mark = "~\(digest.prefix(12))"
    return AttachmentPath(String(decoding: bytes[..<ending] + Array(mark.utf8) + bytes[ending...], as: UTF8.self))
  }

  private static let contentPrefix = "file~"
  /// With this number of digits it is practically impossible to make another content with the same beginning.
  private static let contentDigits = 40

  /// The last path to try for a content: directly below `files/`, with the content's digest as its name.
  public static func ofContent(_ digest: some StringProtocol) -> AttachmentPath? {
    AttachmentPath("\(contentPrefix)\(digest.prefix(contentDigits))")
  }

  /// Whether this is the path that `ofContent` returns for the digest.
  public func isPlace(ofContent digest: some StringProtocol) -> Bool { self == Self.ofContent(digest) }

  /// Whether the first name of this path looks like a name from `ofContent`. Upper and lower case count as the same,
  /// because some media do not distinguish them.
  public var isLikeContentName: Bool {
    guard let first = names.first?.lowercased(), first.hasPrefix(Self.contentPrefix) else { return false }
    let digits = first.utf8.dropFirst(Self.contentPrefix.utf8.count)
    return digits.count == Self.contentDigits && digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}

extension AttachmentPath {
  /// The path in a value; nil if the value is no such path.
  public init?(_ value: Value) {
    guard case .text(let bytes) = value, let text = String(validating: bytes, as: UTF8.self) else { return nil }
    self.init(text)
  }
}
