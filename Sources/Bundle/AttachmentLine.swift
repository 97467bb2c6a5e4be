import SatchelCrypto
import SatchelJSON
import SatchelValues

/// One line of `attachments.jsonl`: what is said of one file that rows name.
public struct AttachmentLine: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    /// The bundle carries it: so many bytes. It takes the place of the version `was`, if the sender knows of one that
    /// the other side has.
    case file(bytes: Int64, was: Digest?)
    /// It came from the other side, and is safe here.
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

  /// Word that a file came, from texts as databases keep them; nil where they are no path and no digest.
  public init?(received path: String, digest: String) {
    guard let path = AttachmentPath(path), let digest = Digest(hexadecimal: digest) else { return nil }
    self.init(path: path, digest: digest, content: .has)
  }

  /// Lines stand in the order of their paths' bytes: first the files, then what came.
  static func precedes(_ a: AttachmentLine, _ b: AttachmentLine) -> Bool {
    a.isFile == b.isFile ? (a.path, a.digest.hexadecimal) < (b.path, b.digest.hexadecimal) : a.isFile
  }

  public var isFile: Bool { content != .has }

  /// The version whose place the file takes; nil: of none that the sender knows.
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
      throw LineProblem("its path is no place below files/")
    }
    guard let digest = document["digest"]?.stringValue.flatMap({ Digest(hexadecimal: $0) }) else {
      throw LineProblem("its digest is none")
    }
    switch document["op"]?.stringValue {
    case "file":
      guard let bytes = document["bytes"]?.integerValue, (0...largestCount).contains(bytes) else {
        throw LineProblem("bytes is missing or unknown")
      }
      guard let former = document["was"] else {
        return AttachmentLine(path: path, digest: digest, content: .file(bytes: bytes, was: nil))
      }
      guard let was = former.stringValue.flatMap({ Digest(hexadecimal: $0) }) else {
        throw LineProblem("was is no digest")
      }
      return AttachmentLine(path: path, digest: digest, content: .file(bytes: bytes, was: was))
    case "has" where document["bytes"] == nil && document["was"] == nil:
      return AttachmentLine(path: path, digest: digest, content: .has)
    default: throw LineProblem("its op is missing or unknown")
    }
  }
}

extension VerifiedBundle {
  /// What the bundle says of attached files. Each content that it carries is named by a line, and each line that
  /// promises one has it.
  public func attachments() throws -> [AttachmentLine] {
    var lines: [AttachmentLine] = []
    var named: Set<BlobName> = []
    let carried = bytesByBlob
    try eachLine(.attachments, manifest.attachments) { bytes throws in
      let line = try AttachmentLine.parse(bytes, limits: limits)
      if let last = lines.last, !AttachmentLine.precedes(last, line) {
        throw LineProblem("it is out of order, or stands twice")
      }
      if case .file(let bytes, _) = line.content {
        guard lines.last.map({ !$0.isFile || $0.path != line.path }) ?? true else {
          throw LineProblem("its path stands twice")
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

  /// Where the content of a line's file lies, as long as the bundle is there; nil where it carries none.
  public func path(of line: AttachmentLine) -> String? {
    line.isFile ? path(of: .blob(BlobName(of: line.digest))) : nil
  }
}
