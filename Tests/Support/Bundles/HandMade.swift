import SatchelBundle
import SatchelCrypto
import SatchelPlatform

/// An entry of a hand-made tar, so that exactly one thing can be wrong with it.
public struct HandMadeEntry {
  public var name: [UInt8]
  public var type = UInt8(ascii: "0")
  public var link = ""
  public var prefix = ""
  public var content: [UInt8]
  /// The size in the header, if it is wrong on purpose.
  public var claimedSize: Int?

  public init(_ name: String, _ content: [UInt8] = []) {
    self.name = Array(name.utf8)
    self.content = content
  }

  public var bytes: [UInt8] {
    var block = [UInt8](repeating: 0, count: 512)
    func put(_ text: some Sequence<UInt8>, at offset: Int) {
      for (i, byte) in text.enumerated() { block[offset + i] = byte }
    }
    func octal(_ number: Int, _ digits: Int) -> [UInt8] {
      let text = String(number, radix: 8)
      return Array((String(repeating: "0", count: digits - text.count) + text).utf8)
    }
    put(name, at: 0)
    put(octal(0o644, 7), at: 100)
    put(octal(0, 7), at: 108)
    put(octal(0, 7), at: 116)
    put(octal(claimedSize ?? content.count, 11), at: 124)
    put(octal(0, 11), at: 136)
    block[156] = type
    put(link.utf8, at: 157)
    put("ustar\u{0}00".utf8, at: 257)
    put(prefix.utf8, at: 345)
    put([UInt8](repeating: 0x20, count: 8), at: 148)
    let sum = block.reduce(0) { $0 + Int($1) }
    put(octal(sum, 6) + [0, 0x20], at: 148)
    return block + content + [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
  }
}

/// The two blocks of zeros that end a tar.
public let tarEnd = [UInt8](repeating: 0, count: 1024)

public func tar(_ entries: [HandMadeEntry]) -> [UInt8] { entries.flatMap(\.bytes) + tarEnd }

/// A zstd frame (RFC 8878) that holds bytes as they are, in raw blocks.
public func zstd(_ bytes: [UInt8]) -> [UInt8] {
  var frame: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]
  var start = 0
  repeat {
    let end = min(start + 100_000, bytes.count)
    let header = UInt32(end - start) << 3 | (end == bytes.count ? 1 : 0)
    frame += [UInt8(header & 255), UInt8(header >> 8 & 255), UInt8(header >> 16)]
    frame += bytes[start..<end]
    start = end
  } while start < bytes.count
  return frame
}

/// A hand-made and signed bundle: valid in everything, until a test changes it.
public struct HandMade {
  /// Members of the manifest, their values as JSON.
  public var members: KeyValue
  public var entries: [HandMadeEntry]
  /// The entries that the manifest and B2SUMS list. nil: the entries that the bundle has.
  public var promised: [(name: String, bytes: Int)]?
  public var signer: UInt8 = 1
  public var seed: UInt8 = 1
  public var comment: String?
  /// Replaces the manifest that the members make.
  public var rawManifest: [UInt8]?

  public typealias KeyValue = [(name: String, json: String)]

  public static let bundle = "0d6a9f4e-3c1b-4a52-9a7e-5b0f6c2d1e88"
  public static let device = "6f1c2a9b-7d3e-4f50-8a61-b2c3d4e5f607"
  public static let hub = "c0ffee00-1234-4abc-8def-0123456789ab"
  public static let digest = String(repeating: "0f", count: 64)
  public static let line =
    #"{"table":"t","op":"insert","key":[7],"generation":1,"stamp":"019c13161a880000","row":{"id":7,"a":"x"}}"#

  /// A device's bundle with these lines of changes.
  public init(lines: [String] = [line]) {
    entries = lines.isEmpty ? [] : [HandMadeEntry("changes.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))]
    members = [
      ("format", "1"), ("critical", "[]"), ("kind", #""changes""#), ("bundle", "\"\(Self.bundle)\""),
      ("dataset", #""d""#),
      ("version", "1"), ("from", #"{"id":"\#(Self.device)","name":"tablet"}"#),
      ("to", #"{"id":"\#(Self.hub)","name":"hub"}"#),
      ("user", #""ana""#), ("created", #""2026-01-31T08:05:09Z""#), ("stamp", #""019c13161a880000""#),
      ("counts", #"{"changes":\#(lines.count),"resolutions":0,"conflicts":0}"#),
      ("epoch", #""11111111-2222-4333-8444-555555555555""#),
      ("incarnation", #""99999999-8888-4777-8666-555555555555""#),
      ("received", "4"), ("sequence", "2"), ("chain", #"[{"sequence":1,"digest":"\#(Self.digest)"}]"#),
    ]
  }

  public mutating func set(_ name: String, _ json: String?) {
    members = members.compactMap { $0.name == name ? json.map { (name, $0) } : $0 }
    if let json, !members.contains(where: { $0.name == name }) { members.append((name, json)) }
  }

  public func setting(_ name: String, _ json: String?) -> HandMade {
    var copy = self
    copy.set(name, json)
    return copy
  }

  public func changing(_ change: (inout HandMade) -> Void) -> HandMade {
    var copy = self
    change(&copy)
    return copy
  }

  public var manifest: [UInt8] {
    if let rawManifest { return rawManifest }
    let list = (promised ?? entries.map { (String(decoding: $0.name, as: UTF8.self), $0.content.count) })
      .map { #"{"name":"\#($0)","bytes":\#($1)}"# }.joined(separator: ",")
    let all = members.contains { $0.name == "entries" } ? members : members + [("entries", "[\(list)]")]
    return Array("{\(all.map { "\"\($0.name)\":\($0.json)" }.joined(separator: ","))}\n".utf8)
  }

  public var sums: [UInt8] {
    let listed = entries.filter { entry in promised?.contains { entry.name == Array($0.name.utf8) } ?? true }
    let all = [HandMadeEntry("manifest.json", manifest)] + listed
    return all.flatMap { Array("\(Digest.of($0.content).hexadecimal)  ".utf8) + $0.name + [0x0a] }
  }

  /// All entries of the tar, with the signature.
  public func signed(sums other: [UInt8]? = nil) throws -> [HandMadeEntry] {
    try signed(with: SigningKey.testKey(signer, seed: seed), sums: other)
  }

  public func signed(with key: borrowing SigningKey, sums other: [UInt8]? = nil) throws -> [HandMadeEntry] {
    let words =
      comment
      ?? "satchel changes \(Self.bundle) dataset=d from=\(Self.device) to=\(Self.hub) number=2 key=\(key.publicKey.line)"
    let sums = other ?? self.sums
    let signature = try key.sign(
      message: sums, trustedComment: words, untrustedComment: "signature of B2SUMS in a Satchel bundle")
    return [
      HandMadeEntry("B2SUMS.minisig", signature.fileBytes), HandMadeEntry("B2SUMS", sums),
      HandMadeEntry("manifest.json", manifest),
    ] + entries
  }

  public func file() throws -> [UInt8] { zstd(tar(try signed())) }
}

/// The result of reading a file.
public enum Outcome: Equatable {
  case accepted(Digest)
  case refused(String)

  public var reason: String? { if case .refused(let reason) = self { reason } else { nil } }
}

/// A folder in which tests read bundles. Its staging folder must be empty after each bundle.
public final class ReadingRoom {
  public let folder: TemporaryFolder
  public let staging: String
  private let reader: BundleReader
  private let trust: BundleReader.Trust

  public init(trust: BundleReader.Trust? = nil, limits: BundleLimits = BundleLimits()) throws {
    folder = try TemporaryFolder()
    staging = try folder.folder("staging")
    reader = BundleReader(platform: .still(), limits: limits)
    self.trust = trust ?? .keys([SigningKey.testKey().publicKey])
  }

  /// Reads a bundle's file to its last line. Throws if a temporary file is left.
  public func outcome(of bytes: [UInt8]) throws -> Outcome {
    try folder.write(bytes, to: "f")
    let outcome = try outcome(at: folder("f"))
    let left = try folder.files.list(staging)
    guard left.isEmpty else { throw ToolFailure("left behind: \(left)") }
    return outcome
  }

  public func reason(_ bundle: HandMade) throws -> String? { try outcome(of: bundle.file()).reason }
  public func reason(_ entries: [HandMadeEntry]) throws -> String? { try outcome(of: zstd(tar(entries))).reason }

  /// The changes that come before the bundle's error, and the error. nil: the bundle has no error.
  public func changes(_ bundle: HandMade) throws -> (lines: [ChangeLine], error: BundleError?) {
    try folder.write(bundle.file(), to: "f")
    let bundle = try reader.read(folder("f"), trust: trust, staging: staging)
    var lines: [ChangeLine] = []
    do { try bundle.eachChange { lines.append($0) } } catch let error as BundleError { return (lines, error) }
    return (lines, nil)
  }

  private func outcome(at path: String) throws -> Outcome {
    do {
      let bundle = try reader.read(path, trust: trust, staging: staging)
      try bundle.eachChange { _ in }
      _ = try bundle.migrations()
      try bundle.eachConflict { _ in }
      try bundle.eachResolution { _ in }
      _ = try bundle.attachments()
      return .accepted(bundle.digest)
    } catch let error as BundleError {
      guard !error.message.isEmpty else { throw error }
      return .refused(error.reason)
    }
  }
}

extension HandMade {
  /// The comment of a hub's bundle with the number 2.
  public var scopeComment: String {
    let key = SigningKey.testKey(signer, seed: seed)
    return
      "satchel scope \(Self.bundle) dataset=d from=\(Self.device) to=\(Self.hub) number=2 key=\(key.publicKey.line)"
  }
}
