import SatchelCrypto
import SatchelJSON
import SatchelValues

/// A line of `attachments.jsonl`, about one attachment.
public struct AttachmentLine: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    /// The bundle carries the file, with this size. It replaces the version `was`, which the other replica has; nil
    /// if the sender knows no such version.
    case file(bytes: Int64, was: Digest?)
    /// A receipt: the file came from the other replica, and is safe here.
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

  /// Makes a receipt from two texts of a database; nil if they are not a path and a digest.
  public init?(received path: String, digest: String) {
    guard let path = AttachmentPath(path), let digest = Digest(hexadecimal: digest) else { return nil }
    self.init(path: path, digest: digest, content: .has)
  }

  /// The order of lines: lines about carried files, then receipts, each sorted by the bytes of their paths.
  static func precedes(_ a: AttachmentLine, _ b: AttachmentLine) -> Bool {
    if a.isFile != b.isFile { return a.isFile }
    return a.path == b.path ? a.digest.bytes.lexicographicallyPrecedes(b.digest.bytes) : a.path < b.path
  }

  public var isFile: Bool { content != .has }

  /// The version that the file replaces; nil if the sender knows none.
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
  /// The lines about attachments. Throws if a content has no line, if a line names a content that the bundle does not
  /// carry, or if too many lines are about carried files.
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
        // Several lines may name the same content, and each makes a file at the receiver.
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

  /// The path of the staged file with the content of the line's attachment, as long as this bundle exists. nil if the
  /// bundle does not carry the attachment.
  public func path(of line: AttachmentLine) -> String? {
    line.isFile ? path(of: .blob(BlobName(of: line.digest))) : nil
  }
}
