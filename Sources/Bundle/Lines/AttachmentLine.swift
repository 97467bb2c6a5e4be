import SatchelCrypto
import SatchelJSON
import SatchelValues

/// One line of `attachments.jsonl`, about one file that rows name.
public struct AttachmentLine: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    /// The bundle carries the file, with this size. It replaces the version `was`, if the sender knows that the other
    /// side has a version.
    case file(bytes: Int64, was: Digest?)
    /// The file came from the other side, and is safe here.
    case has
  }

  public let path: AttachmentPath
  public let digest: Digest
  public let content: Content

  public init(path: AttachmentPath, digest: Digest, content: Content) {
    self.path = path
    self.digest = digest
    self.content = content
  }

  /// Makes the line of a received file from two texts of a database. nil if the texts are not a path and a digest.
  public init?(received path: String, digest: String) {
    guard let path = AttachmentPath(path), let digest = Digest(hexadecimal: digest) else { return nil }
    self.init(path: path, digest: digest, content: .has)
  }

  /// Lines about carried files come first, then lines about received files. Both are in the order of their paths'
  /// bytes.
  static func precedes(_ a: AttachmentLine, _ b: AttachmentLine) -> Bool {
    if a.isFile != b.isFile { return a.isFile }
    return a.path == b.path ? a.digest.bytes.lexicographicallyPrecedes(b.digest.bytes) : a.path < b.path
  }

  public var isFile: Bool { content != .has }

  /// The version that the file replaces; nil: the sender knows no version.
  public var was: Digest? {
    if case .file(_, let was) = content { was } else { nil }
  }
}

extension AttachmentLine: BundleLine {
  var rowName: String { "the file \(path)" }
  var critical: Manifest.Critical? { .attachments }

  func write(into writer: inout JSONWriter) {
    writer.beginObject()
    writer.members(["op": isFile ? "file" : "has", "path": path.text, "digest": digest.hexadecimal])
    if case .file(let bytes, let was) = content {
      writer.key("bytes")
      writer.integer(bytes)
      if let was { writer.members(["was": was.hexadecimal]) }
    }
    writer.endObject()
  }

  static func parse(_ line: [UInt8], limits: BundleLimits) throws -> AttachmentLine {
    let document = try JSONValue.parse(line, limits: JSONLimits(maxDepth: limits.jsonDepth))
    guard let path = document["path"]?.stringValue.flatMap({ AttachmentPath($0) }) else {
      throw LineProblem("its path is not a valid path below files/")
    }
    guard let digest = document["digest"]?.stringValue.flatMap({ Digest(hexadecimal: $0) }) else {
      throw LineProblem("its digest is malformed")
    }
    switch document["op"]?.stringValue {
    case "file":
      guard let bytes = document["bytes"]?.integerValue, (0...largestCount).contains(bytes) else {
        throw LineProblem("its member bytes is missing, or is no size")
      }
      guard let former = document["was"] else {
        return AttachmentLine(path: path, digest: digest, content: .file(bytes: bytes, was: nil))
      }
      guard let was = former.stringValue.flatMap({ Digest(hexadecimal: $0) }) else {
        throw LineProblem("its member was is not a digest")
      }
      return AttachmentLine(path: path, digest: digest, content: .file(bytes: bytes, was: was))
    case "has" where document["bytes"] == nil && document["was"] == nil:
      return AttachmentLine(path: path, digest: digest, content: .has)
    default: throw LineProblem("its op is missing or unknown")
    }
  }
}

extension VerifiedBundle {
  /// Returns the bundle's lines about attached files. Throws if a carried content has no line, if the bundle lacks the
  /// content that a line promises, or if there are too many lines about carried files.
  public func attachments() throws -> [AttachmentLine] {
    var lines: [AttachmentLine] = []
    var named: Set<BlobName> = []
    var files = 0
    let carried = bytesByBlob
    try eachLine(.attachments, manifest.attachments) { bytes throws in
      let line = try AttachmentLine.parse(bytes, limits: limits)
      if let last = lines.last, !AttachmentLine.precedes(last, line) {
        throw LineProblem("it is out of order, or a duplicate")
      }
      if case .file(let bytes, _) = line.content {
        guard lines.last.map({ !$0.isFile || $0.path != line.path }) ?? true else {
          throw LineProblem("its path occurs twice")
        }
        // Many lines may name one content, and each of them becomes a file of the receiver.
        files += 1
        guard files <= BundleLimits.mostBlobs else {
          throw LineProblem("there are more than \(BundleLimits.mostBlobs) lines about carried files")
        }
        let blob = BlobName(of: line.digest)
        guard carried[blob] == bytes else { throw LineProblem("the bundle does not carry this file") }
        named.insert(blob)
      }
      lines.append(line)
    }
    guard named.count == carried.count else { throw BundleError.manifest("it carries files that no line names") }
    return lines
  }

  private var bytesByBlob: [BlobName: Int64] {
    var bytes: [BlobName: Int64] = [:]
    for entry in entryList { if case .blob(let blob) = entry.name { bytes[blob] = entry.bytes } }
    return bytes
  }

  /// The path of the staged file that has the content of the line's file. The path is valid while the bundle exists.
  /// nil if the bundle does not carry the file.
  public func path(of line: AttachmentLine) -> String? {
    line.isFile ? path(of: .blob(BlobName(of: line.digest))) : nil
  }
}
