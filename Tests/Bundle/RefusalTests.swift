import SatchelBundle
import SatchelCrypto
import TestSupport
import Testing

@Suite("Refusals of the reader, and their reasons")
struct RefusalTests {
  let room: ReadingRoom
  let good = HandMade()

  init() throws { room = try ReadingRoom() }

  @Test("a bundle that is right is accepted")
  func right() throws { #expect(try room.reason(good) == nil) }

  // MARK: signature and digests

  @Test("a key that is not trusted")
  func unknownKey() throws {
    #expect(try room.reason(good.changing { $0.signer = 2 }) == "unknown-key")
  }

  @Test("the id of a trusted key over another key's signature")
  func wrongSignature() throws {
    #expect(try room.reason(good.changing { $0.seed = 9 }) == "bad-signature")
  }

  @Test("a signature of something else, or with another comment")
  func otherMessage() throws {
    var entries = try good.signed(sums: good.sums + Array("x\n".utf8))
    entries[1].content = good.sums
    #expect(try room.reason(entries) == "bad-signature")
    entries = try good.signed()
    let text = String(decoding: entries[0].content, as: UTF8.self)
    entries[0].content = Array(text.replacing("number=2", with: "number=3").utf8)
    #expect(try room.reason(entries) == "bad-signature")
    entries[0].content = Array(text.replacing("signature of B2SUMS", with: "signature of b2sums").utf8)
    #expect(try room.reason(entries) == "bad-signature")
    entries[0].content = Array("no signature\n".utf8)
    #expect(try room.reason(entries) == "bad-signature")
  }

  @Test("a signed comment that is not the manifest's")
  func otherComment() throws {
    #expect(try room.reason(good.changing { $0.comment = "satchel" }) == "bad-manifest")
    #expect(try room.reason(good.setting("sequence", "3")) == "bad-manifest")
    #expect(try room.reason(good.setting("dataset", #""e""#)) == "bad-manifest")
  }

  @Test("a first contact must name the key that signed")
  func firstContact() throws {
    let room = try ReadingRoom(trust: .firstContact)
    #expect(try room.reason(good) == nil)
    #expect(try room.reason(good.changing { $0.comment = "no key" }) == "bad-signature")
    let other = SigningKey.testKey(1, seed: 5)
    #expect(try room.reason(good.changing { $0.comment = "key=\(other.publicKey.line)" }) == "bad-signature")
  }

  @Test("an entry or a manifest whose digest is another")
  func digests() throws {
    var entries = try good.signed()
    entries[3].content[5] ^= 1
    #expect(try room.reason(entries) == "bad-digest")
    entries = try good.signed()
    entries[2].content[entries[2].content.count - 1] = 0x20
    #expect(try room.reason(entries) == "bad-digest")
  }

  @Test("B2SUMS of another form")
  func sums() throws {
    let right = String(decoding: good.sums, as: UTF8.self)
    for (wrong, reason) in [
      (String(right.dropLast()), "bad-manifest"), ("", "bad-manifest"), (right.uppercased(), "bad-manifest"),
      (right.replacing("  ", with: " *"), "bad-manifest"), (right + right, "bad-manifest"),
      (right.replacing("manifest.json", with: "B2SUMS"), "newer-format"),
      (right.replacing("changes.jsonl", with: "changes.json"), "newer-format"),
      (right.split(separator: "\n").reversed().joined(separator: "\n") + "\n", "bad-manifest"),
      (right.split(separator: "\n")[0] + "\n", "bad-manifest"),
    ] as [(String, String)] {
      #expect(try room.reason(good.signed(sums: Array(wrong.utf8))) == reason, "\(wrong.suffix(30))")
    }
  }

  // MARK: entries

  @Test("entries that are surplus, doubled, missing or in another order")
  func order() throws {
    let entries = try good.signed()
    #expect(try room.reason(entries + [HandMadeEntry("extra")]) == "bad-entry")
    #expect(try room.reason(entries + [entries[3]]) == "bad-entry")
    #expect(try room.reason([entries[0]] + entries) == "bad-entry")
    #expect(try room.reason(Array(entries.dropLast())) == "truncated")
    #expect(try room.reason(Array(entries.dropFirst())) == "bad-entry")
    #expect(try room.reason([entries[1], entries[0], entries[2], entries[3]]) == "bad-entry")
    #expect(try room.reason([entries[0], entries[1], entries[3], entries[2]]) == "bad-entry")
    #expect(try room.reason([]) == "truncated")
  }

  @Test(
    "links, folders, devices, sparse files and what else a tar can hold", arguments: Array("123456SLKDVMNXgxZ".utf8),
    0...3)
  func types(type: UInt8, place: Int) throws {
    var entries = try good.signed()
    entries[place].type = type
    let reason = try room.reason(entries)
    #expect(reason == "bad-entry" || reason == "not-a-bundle", "\(reason ?? "accepted")")
    entries[place].link = "manifest.json"
    entries[place].content = []
    #expect(try room.reason(entries) != nil)
  }

  @Test("a plain file with the name of a link, or with a prefix")
  func linkName() throws {
    for place in 0...3 {
      var entries = try good.signed()
      entries[place].link = "x"
      #expect(try room.reason(entries) == "bad-entry")
      entries[place].link = ""
      entries[place].prefix = "x"
      #expect(try room.reason(entries) == "bad-entry")
    }
  }

  @Test(
    "a name with a path, or a name that only looks right",
    arguments: [
      "./manifest.json", "/manifest.json", "../manifest.json", "a/manifest.json", "manifest.json/", "Manifest.json", "",
      "manifest.json\u{0}x", "manife\u{327}st.json",
    ])
  func names(name: String) throws {
    var entries = try good.signed()
    entries[2].name = Array(name.utf8)
    #expect(try room.reason(entries) == "bad-entry")
  }

  @Test("a pax header may say a size and times, and nothing else")
  func pax() throws {
    func with(_ records: String, _ type: Character = "x", at place: Int = 3) throws -> String? {
      var entries = try good.signed()
      var header = HandMadeEntry("PaxHeader/x", Array(records.utf8))
      header.type = type.asciiValue ?? 0
      entries.insert(header, at: place)
      return try room.reason(entries)
    }
    let size = good.entries[0].content.count
    for place in 0...3 { #expect(try with("20 mtime=1700000000\n19 atime=170000000\n", at: place) == nil) }
    #expect(try with("12 size=\(size)\n") == nil)
    #expect(try with("12 size=\(size)\n12 size=\(size)\n") == "not-a-bundle")
    #expect(try with("11 size=99\n") != nil)
    #expect(try with("11 size=-9\n") == "not-a-bundle")
    #expect(try with("17 path=snapshot\n") == "not-a-bundle")
    #expect(try with("22 GNU.sparse.major=1\n") == "not-a-bundle")
    #expect(try with("99 size=1\n") == "not-a-bundle")
    #expect(try with("3 \n") == "not-a-bundle")
    #expect(try with("size=1\n") == "not-a-bundle")
    #expect(try with(String(repeating: "20 mtime=1700000000\n", count: 60)) == "not-a-bundle")
    #expect(try with("20 mtime=1700000000\n", "g") == "bad-entry")
    #expect(try with("", at: 4) == "truncated")
    var twice = try good.signed()
    var header = HandMadeEntry("PaxHeader/x", Array("20 mtime=1700000000\n".utf8))
    header.type = UInt8(ascii: "x")
    twice.insert(contentsOf: [header, header], at: 3)
    #expect(try room.reason(twice) == "bad-entry")
  }

  @Test("sizes that differ from the signed ones, or exceed a limit")
  func sizes() throws {
    #expect(try room.reason(good.changing { $0.promised = [("changes.jsonl", 1)] }) == "bad-entry")
    #expect(try room.reason(good.changing { $0.promised = [("changes.jsonl", 1 << 40)] }) == "too-large")
    var entries = try good.signed()
    entries[3].claimedSize = 1 << 32
    #expect(try room.reason(entries) == "bad-entry")
    for place in 0...2 {
      entries = try good.signed()
      entries[place].claimedSize = 1 << 32
      #expect(try room.reason(entries) == "too-large")
    }
    var limits = BundleLimits()
    limits.entryBytes = 10
    #expect(try ReadingRoom(limits: limits).reason(good) == "too-large")
    limits = BundleLimits()
    limits.manifestBytes = 10
    #expect(try ReadingRoom(limits: limits).reason(good) == "too-large")
    limits = BundleLimits()
    limits.lineBytes = 10
    #expect(try ReadingRoom(limits: limits).reason(good) == "bad-line")
  }

  // MARK: bytes around the entries

  @Test("bytes after the tar, inside the compression and after it")
  func trailing() throws {
    let right = tar(try good.signed())
    let zeros = [UInt8](repeating: 0, count: 10_240)
    #expect(try room.outcome(of: zstd(right + zeros)).reason == nil, "tools fill up a record")
    #expect(try room.outcome(of: zstd(right + zeros + [1])).reason == "trailing-data")
    #expect(try room.outcome(of: zstd(right + right)).reason == "trailing-data")
    #expect(try room.outcome(of: zstd(right + [UInt8](repeating: 0, count: 70_000))).reason == "trailing-data")
    #expect(try room.outcome(of: zstd(right) + zstd([1])).reason == "trailing-data")
    #expect(try room.outcome(of: zstd(right) + Array("garbage".utf8)).reason == "trailing-data")
    #expect(
      try room.outcome(of: zstd(right) + [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]).reason == "trailing-data",
      "a frame to be skipped")
    #expect(try room.outcome(of: zstd(Array(right.dropLast(512)))).reason == "truncated")
    #expect(try room.outcome(of: zstd(Array(right.dropLast(1024)))).reason == "truncated")
  }

  @Test("bytes between two entries")
  func padding() throws {
    var right = tar(try good.signed())
    let first = try good.signed()[0].content.count
    #expect(first % 512 != 0)
    right[512 + first] = 1
    #expect(try room.outcome(of: zstd(right)).reason == "not-a-bundle")
  }

  @Test("a file that is no zstd, or zstd around something else")
  func wrappings() throws {
    let right = tar(try good.signed())
    #expect(try room.outcome(of: right).reason == "not-a-bundle")
    #expect(try room.outcome(of: zstd(zstd(right))).reason == "not-a-bundle")
    #expect(try room.outcome(of: []).reason == "truncated")
    #expect(
      try room.outcome(of: [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0] + zstd(right)).reason == "not-a-bundle",
      "a frame to be skipped")
    let half = right.count / 2
    #expect(
      try room.outcome(of: zstd(Array(right[..<half])) + zstd(Array(right[half...]))).reason == "truncated",
      "two frames")
    #expect(try room.outcome(of: zstd([])).reason != nil)
    #expect(try room.outcome(of: Array("hello".utf8)).reason == "not-a-bundle")
    #expect(try room.outcome(of: zstd(Array("hello".utf8))).reason == "truncated")
    #expect(try room.outcome(of: zstd([UInt8](repeating: 7, count: 5000))).reason == "not-a-bundle")
  }

  @Test("a frame that needs more than 8 MiB to unpack")
  func window() throws {
    let right = tar(try good.signed())
    var frame = zstd(right)
    #expect(frame[5] == 0x58, "a window of 2^21 bytes")
    frame[5] = 0x68
    #expect(try room.outcome(of: frame).reason == nil, "2^23 bytes")
    for exponent in [0x69, 0x70, 0xa8, 0xff] as [UInt8] {
      frame[5] = exponent
      #expect(try room.outcome(of: frame).reason == "too-large")
    }
    // The frame is a single segment. Its size of eight bytes is then also the size of its window.
    let one: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0xe0] + [0, 0, 0, 0, 0, 1, 0, 0] + zstd(right).dropFirst(6)
    #expect(try room.outcome(of: one).reason == "too-large")
  }

  @Test("a few bytes that unpack to very many")
  func bomb() throws {
    var limits = BundleLimits()
    limits.anyRatioBytes = 1 << 20
    let room = try ReadingRoom(limits: limits)
    let bundle = good.changing { $0.entries[0].content = [UInt8](repeating: 0x20, count: 1 << 20) }
    let file = tar(try bundle.signed())
    let folder = try TemporaryFolder()
    try folder.write(file, to: "tar")
    try StockTool.zstd("-q", "-19", "tar", in: folder.path)
    #expect(try room.outcome(of: folder.read("tar.zst")).reason == "too-large")
    #expect(try room.outcome(of: zstd(file)).reason != "too-large")
  }

  @Test("entries that are larger together than a bundle may be")
  func total() throws {
    var limits = BundleLimits()
    limits.totalBytes = 50
    #expect(try ReadingRoom(limits: limits).reason(good) == "too-large")
  }

  @Test("a file that is not there is no refusal, and leaves nothing behind")
  func missing() throws {
    let reader = BundleReader(platform: .still())
    #expect(throws: (any Error).self) {
      _ = try reader.read(room.folder("nowhere"), trust: .firstContact, staging: room.staging).signer
    }
    #expect(try room.folder.files.list(room.staging) == [])
  }
}
