import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import TestSupport
import Testing

@Suite("Attached files in a bundle")
struct AttachedFileTests {
  private let room: ReadingRoom
  private static let content = Array("a photo".utf8)

  init() throws { room = try ReadingRoom() }

  private static func name(_ content: [UInt8]) -> String { "blobs/\(Digest.of(content).hexadecimal.prefix(64))" }

  private static func line(
    _ path: String, _ content: [UInt8] = content, op: String = "file", bytes: Int? = nil, digest: String? = nil
  ) -> String {
    let digest = digest ?? Digest.of(content).hexadecimal
    return
      #"{"op":"\#(op)","path":"\#(path)","digest":"\#(digest)""#
      + (op == "file" ? #","bytes":\#(bytes ?? content.count)}"# : "}")
  }

  private static let manifest = Manifest(
    bundle: BundleID(HandMade.bundle)!, dataset: "d", version: 1,
    from: .init(id: ReplicaID(HandMade.device)!, name: "tablet"), to: .init(id: ReplicaID(HandMade.hub)!, name: "hub"),
    user: "ann", created: "2026-01-31T08:05:09Z", stamp: .zero,
    body: .changes(
      .init(
        epoch: Epoch(HandMade.bundle)!, incarnation: Incarnation(HandMade.bundle)!, received: EmissionNumber(1),
        sequence: SequenceNumber(1), chain: [])))

  /// A device's bundle with these lines about files, and with these file contents.
  private func bundle(
    _ lines: [String], _ blobs: [(name: String, content: [UInt8])] = [(name(content), content)],
    critical: String = "attachments"
  ) -> HandMade {
    HandMade(lines: []).changing { made in
      made.set("critical", critical.isEmpty ? "[]" : "[\"\(critical)\"]")
      made.set(
        "counts", #"{"changes":0,"resolutions":0,"conflicts":0,"attachments":\#(lines.count),"blobs":\#(blobs.count)}"#)
      made.entries = [HandMadeEntry("attachments.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))]
      made.entries += blobs.map { HandMadeEntry($0.name, $0.content) }
    }
  }

  @Test("a file, one content under two paths, and receipts are read")
  func right() throws {
    let lines = [Self.line("a/b.jpg"), Self.line("ä b.jpg"), Self.line("c.jpg", op: "has")]
    #expect(try room.reason(bundle(lines)) == nil)
    #expect(try room.reason(bundle([Self.line("c.jpg", op: "has")], [])) == nil)
  }

  @Test(
    "a path that leads out of files/, or that some medium cannot hold, is refused",
    arguments: [
      "../a.jpg", "a/../b.jpg", "/etc/passwd", "a//b.jpg", "", "a/", ".ssh/key", "a/.satchel-1", "a\\\\b.jpg",
      "c:a.jpg", "nul", "CON .txt", "aux  .x", "com\u{b9}", "LPT\u{b3}.log", "Conin$", "conout$.x",
      "a/CON.jpg", "a.", "a /b", "a\\u0007.jpg", "a\\u0000b", String(repeating: "x", count: 201),
      String(repeating: "x/", count: 300) + "a",
    ])
  func paths(path: String) throws { #expect(try room.reason(bundle([Self.line(path)])) == "bad-line") }

  @Test("a content that is not what was signed, or not called by its digest, is refused")
  func contents() throws {
    let other = Array("another".utf8)
    var entries = try bundle([Self.line("a.jpg")]).signed()
    entries[4].content = Array("a ph0to".utf8)
    #expect(try room.reason(entries) == "bad-digest")
    #expect(try room.reason(bundle([Self.line("a.jpg")], [(Self.name(Self.content), other)])) == "bad-entry")
    #expect(try room.reason(bundle([Self.line("a.jpg", digest: HandMade.digest)])) == "bad-line")
    #expect(try room.reason(bundle([Self.line("a.jpg", bytes: 6)])) == "bad-line")
  }

  @Test("contents that no line names, lines without content, doubled and disordered ones are refused")
  func matching() throws {
    let other = Array("another".utf8)
    let both = [(Self.name(Self.content), Self.content), (Self.name(other), other)].sorted { $0.0 < $1.0 }
    #expect(try room.reason(bundle([Self.line("a.jpg"), Self.line("b.jpg", other)], both)) == nil)
    #expect(try room.reason(bundle([Self.line("a.jpg")], both)) == "bad-manifest")
    #expect(try room.reason(bundle([Self.line("a.jpg")], both.reversed())) == "bad-manifest")
    #expect(try room.reason(bundle([Self.line("b.jpg", other)])) == "bad-line")
    #expect(try room.reason(bundle([Self.line("a.jpg"), Self.line("a.jpg")])) == "bad-line")
    #expect(try room.reason(bundle([Self.line("b.jpg"), Self.line("a.jpg")])) == "bad-line")
    #expect(try room.reason(bundle([Self.line("c.jpg", op: "has"), Self.line("a.jpg")])) == "bad-line")
    #expect(try room.reason(bundle([Self.line("a.jpg", op: "drop")])) == "bad-line")
    let former = Self.line("a.jpg").dropLast()
    #expect(try room.reason(bundle([former + #","was":"\#(HandMade.digest)"}"#])) == nil)
    for wrong in ["null", "1", #""abc""#] {
      #expect(try room.reason(bundle([former + #","was":\#(wrong)}"#])) == "bad-line")
    }
    for more in [#","bytes":7}"#, #","was":"\#(HandMade.digest)"}"#] {
      #expect(try room.reason(bundle([Self.line("a.jpg", op: "has").dropLast() + more], [])) == "bad-line")
    }
    #expect(
      try room.reason(bundle([Self.line("a.jpg")]).setting("counts", #"{"changes":0,"resolutions":0,"conflicts":0}"#))
        != nil)
  }

  @Test("a manifest announces attached files, and cannot leave that out")
  func critical() throws {
    #expect(try room.reason(bundle([Self.line("a.jpg")], critical: "")) == "bad-manifest")
    #expect(try room.reason(HandMade().setting("critical", #"["attachments"]"#)) == "bad-manifest")
  }

  @Test("a device requests paths below files/, in order, and no more than a bundle carries")
  func lost() throws {
    #expect(try room.reason(HandMade().setting("lost", #"["a.jpg","b/c.jpg"]"#)) == nil)
    let many = (0...BundleLimits.mostBlobs).map { "\"\(10_000 + $0)\"" }.joined(separator: ",")
    for wrong in [#""a.jpg""#, "[1]", #"["../a.jpg"]"#, #"["b.jpg","a.jpg"]"#, #"["a.jpg","a.jpg"]"#, "[\(many)]"] {
      #expect(try room.reason(HandMade().setting("lost", wrong)) == "bad-manifest", "\(wrong)")
    }
  }

  @Test("a link, a folder or another name below blobs/ is refused")
  func kinds() throws {
    for type in ["1", "2", "5"] {
      var made = bundle([Self.line("a.jpg")])
      made.entries[1].type = Array(type.utf8)[0]
      made.entries[1].link = "/etc/passwd"
      #expect(try room.reason(made) == "bad-entry")
    }
    for name in ["blobs/a.jpg", "blobs/../x", "blobs/" + String(repeating: "A", count: 64), "blobs/", "blobs"] {
      #expect(try room.reason(bundle([Self.line("a.jpg")], [(name, Self.content)])) == "newer-format")
    }
  }

  @Test("a file that is larger than the limit is refused before it is read, and so are too many")
  func limits() throws {
    var limits = BundleLimits()
    limits.blobBytes = 6
    #expect(try ReadingRoom(limits: limits).reason(bundle([Self.line("a.jpg")])) == "too-large")
    let many = (0...BundleLimits.mostBlobs).map { Array("photo \($0)".utf8) }
    let made = bundle(
      many.enumerated().map { Self.line("\(1000 + $0).jpg", $1) },
      many.map { (Self.name($0), $0) }.sorted { $0.0 < $1.0 })
    #expect(try room.reason(made) == "bad-manifest")
  }

  @Test("one content has at most as many names as a bundle may carry files")
  func manyNames() throws {
    let lines = (0...BundleLimits.mostBlobs).map { Self.line("\(1000 + $0).jpg") }
    #expect(try room.reason(bundle(Array(lines.dropLast()))) == nil)
    #expect(try room.reason(bundle(lines)) == "bad-line")
  }

  @Test("the same files give the same bytes, whatever the order in which they are put in")
  func determinism() throws {
    let folder = try TemporaryFolder()
    func made(_ names: [String]) throws -> [UInt8] {
      var draft = try BundleDraft(in: folder.path, platform: .still())
      var files: [BundleDraft.CarriedFile] = []
      for name in names {
        try folder.write(Array(name.utf8), to: name)
        let fd = try folder.files.open(folder(name))
        defer { folder.files.close(fd) }
        let staged = try #require(try draft.stage(fd, limit: 100))
        files.append(.init(try #require(AttachmentPath(name)), staged, was: Digest.of([1])))
        #expect(try draft.stage(fd, limit: 100)?.bytes == 0)
      }
      try draft.addAttachments(files, received: [])
      let sealed = try draft.seal(Self.manifest, with: .testKey())
      return try folder.files.read(draft.write(sealed), limit: 1 << 20)
    }
    #expect(try made(["a.jpg", "b.jpg"]) == made(["b.jpg", "a.jpg"]))
  }
}
