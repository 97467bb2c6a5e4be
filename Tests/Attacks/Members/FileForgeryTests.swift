import Glibc
import SatchelCrypto
import SatchelDevice
import SatchelJSON
import SatchelPlatform
import SatchelValues
import TestSupport
import Testing

/// An attacker sends files under names that other users' rows use or will use.
@Suite("A file under another user's name")
struct FileForgeryTests {
  private let lab: AttackFixture

  init() throws { lab = try AttackFixture() }

  private func forger(_ device: DeviceWorkspace, _ name: String) throws -> Forger {
    let merged = try lab.atHub("SELECT merged FROM satchel_devices WHERE name = '\(name)'").first
    return try Forger(device, lab.platform, sequence: merged.flatMap { Int64($0) })
  }

  private var evil: Forger { get throws { try forger(lab.evil, "evil") } }
  private var ben: Forger { get throws { try forger(lab.victim, "victim") } }

  /// Imports a bundle of the attacker with a file and with these lines.
  private func bring(_ path: String, _ text: String, by forger: Forger, with lines: [JSONValue] = []) throws {
    let blob = Array(text.utf8)
    let bundle = try forger.bundle { content in
      content.changes = lines
      content.attachments = [
        [
          "op": "file", "path": .string(path), "digest": .string(Digest.of(blob).hexadecimal),
          "bytes": .integer(Int64(blob.count)),
        ]
      ]
      content.blobs = [blob]
    }
    #expect(try lab.refusal(of: bundle) == nil)
  }

  private func note(_ id: String, by author: String, _ photo: String) -> JSONValue {
    ["id": .string(id), "author": .string(author), "pub": 0, "body": "x", "likes": 0, "photo": .string(photo)]
  }

  private func beside(_ path: String, _ text: String) throws -> String? {
    let kept = AttachmentPath(path)?.beside(Digest.of(Array(text.utf8)).hexadecimal)
    return try lab.hubFile(#require(kept).text)
  }

  @Test("the first file under a name goes beside it if rows name it that its sender may not change")
  func missing() throws {
    let path = AttackFixture.missing
    // The sender's own row also names the file. This gives the sender no right to the name.
    let own = try evil
    try bring(path, "a prank", by: own, with: [own.insert("notes", "e1", note("e1", by: "ann", path))])
    #expect(try lab.hubFile(path) == nil && beside(path, "a prank") == "a prank")
    #expect(lab.tool("status").out.contains("p5~"))
    try bring(path, "the true one", by: ben)
    #expect(try lab.hubFile(path) == "the true one" && beside(path, "a prank") == "a prank")
    try bring(path, "a later prank", by: evil)
    #expect(try lab.hubFile(path) == "the true one")
  }

  @Test("a file under a guessed name leaves the name to the file of the row's author, and gives no access to it")
  func guessed() throws {
    try bring("guess.jpg", "a prank", by: evil)
    #expect(try lab.hubFile("guess.jpg") == "a prank")
    let author = try ben
    try bring(
      "guess.jpg", "SECRET-GUESS", by: author, with: [author.insert("notes", "b1", note("b1", by: "ben", "guess.jpg"))])
    #expect(try lab.hubFile("guess.jpg") == "SECRET-GUESS" && beside("guess.jpg", "a prank") == "a prank")
    let own = try evil
    #expect(
      try lab.refusal(
        of: own.bundle { $0.changes = [own.insert("notes", "e1", note("e1", by: "ann", "guess.jpg"))] }) == nil)
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("a new version of a file does not replace it while another user's row names it too")
  func sharedName() throws {
    let (first, other) = (try evil, try ben)
    try bring("oak.jpg", "version 1", by: first, with: [first.insert("notes", "e1", note("e1", by: "ann", "oak.jpg"))])
    let row = other.insert("notes", "b1", note("b1", by: "ben", "oak.jpg"))
    #expect(try lab.refusal(of: other.bundle { $0.changes = [row] }) == nil)
    try bring("oak.jpg", "version 2", by: evil)
    #expect(try lab.hubFile("oak.jpg") == "version 1" && beside("oak.jpg", "version 2") == "version 2")
  }

  @Test("a file that comes before its row, with it or after it has its name, also if its device may write no more")
  func honest() throws {
    try bring("early.jpg", "early", by: evil)
    let author = try evil
    try bring(
      "with.jpg", "with", by: author,
      with: [
        author.insert("notes", "e1", note("e1", by: "ann", "early.jpg")),
        author.insert("notes", "e2", note("e2", by: "ann", "with.jpg")),
        author.insert("notes", "e3", note("e3", by: "ann", "late.jpg")),
      ])
    #expect(lab.tool("device", "set", "evil", "--edits", "no").code == 0)
    try bring("late.jpg", "late", by: evil)
    for name in ["early", "with", "late"] { #expect(try lab.hubFile("\(name).jpg") == name) }
  }

  @Test("two users who name one file in rows of their own keep both files, and the first one has the name")
  func collision() throws {
    for (forger, user) in [(try evil, "ann"), (try ben, "ben")] {
      let row = forger.insert("notes", .string("\(user)1"), note("\(user)1", by: user, "oak.jpg"))
      try bring("oak.jpg", "of \(user)", by: forger, with: [row])
    }
    #expect(try lab.hubFile("oak.jpg") == "of ann" && beside("oak.jpg", "of ben") == "of ben")
  }

  // MARK: rows that are not from a bundle

  @Test("a row that an app writes at the hub gives its name to the file of the row's owner")
  func byApp() throws {
    try bring("guess.jpg", "a prank", by: evil)
    try bring("guess.jpg", "the true one", by: ben)
    #expect(try lab.hubFile("guess.jpg") == "a prank" && beside("guess.jpg", "the true one") == "the true one")
    try lab.write("INSERT INTO notes VALUES ('b1', 'ben', 0, 'x', 0, 'guess.jpg')", in: lab.hub.folder)
    lab.tick()
    _ = try lab.hub.emit(to: "victim")
    #expect(try lab.hubFile("guess.jpg") == "the true one" && beside("guess.jpg", "a prank") == "a prank")
  }

  /// Imports a device's change of a note's photo. An app at the hub has changed the photo too, so the conflict waits
  /// for a person.
  private func disagree(_ note: String, _ former: JSONValue, _ photo: String, by forger: Forger) throws {
    try lab.write("UPDATE notes SET photo = 'office.jpg' WHERE id = '\(note)'", in: lab.hub.folder)
    let line = forger.update(
      "notes", .string(note), set: ["photo": .string(photo)], was: ["photo": former])
    try bring(photo, note == "n5" ? "the true one" : "a prank", by: forger, with: [line])
  }

  private func decide(for side: String) throws {
    let conflict = try #require(try lab.atHub("SELECT id FROM satchel_conflicts WHERE state = 'open'").first)
    let outcome = lab.tool("conflicts", "resolve", conflict, "--keep", side)
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  @Test("a decision that writes a name into a row gives the name to the file of the row's owner")
  func decided() throws {
    try bring("guess.jpg", "a prank", by: evil)
    try disagree("n5", .string(AttackFixture.missing), "guess.jpg", by: ben)
    #expect(try lab.hubFile("guess.jpg") == "a prank")
    try decide(for: "device")
    #expect(try lab.hubFile("guess.jpg") == "the true one" && beside("guess.jpg", "a prank") == "a prank")
  }

  @Test("a decision against a row that names a file leaves the name to the file of the row that names it")
  func rejected() throws {
    try disagree("n2", nil, "guess.jpg", by: evil)
    let author = try ben
    let row = author.insert("notes", "b1", note("b1", by: "ben", "guess.jpg"))
    try bring("guess.jpg", "the true one", by: author, with: [row])
    #expect(try lab.hubFile("guess.jpg") == "a prank")
    try decide(for: "hub")
    #expect(try lab.hubFile("guess.jpg") == "the true one" && beside("guess.jpg", "a prank") == "a prank")
  }

  // MARK: places that are taken

  @Test("whatever names a device takes, another user's file finds a place, and its bundle is taken")
  func filledPlaces() throws {
    let digest = Digest.of(Array("the true one".utf8)).hexadecimal
    let near = try #require(AttachmentPath("guess.jpg")?.beside(digest)).text
    let last = try #require(AttachmentPath.ofContent(digest)).text
    try bring("guess.jpg", "a prank", by: evil)
    for name in [near, last, "\(last)/x.jpg", "\(last.uppercased())/y.jpg"] { try bring(name, "junk", by: evil) }
    #expect(try lab.hubFile(near) == "junk" && lab.hubFile(last) == nil)
    try bring("guess.jpg", "the true one", by: ben)
    #expect(try lab.hubFile("guess.jpg") == "a prank" && lab.hubFile(last) == "the true one")
    #expect(lab.tool("status").out.contains(last))
  }

  @Test("the last place of a content keeps this content, also if its own device sends a new version of it")
  func lastPlace() throws {
    let last = try #require(AttachmentPath.ofContent(Digest.of(Array("version 1".utf8)).hexadecimal)).text
    let owner = try evil
    try bring(last, "version 1", by: owner, with: [owner.insert("notes", "e1", note("e1", by: "ann", last))])
    #expect(try lab.hubFile(last) == "version 1")
    try bring(last, "version 2", by: evil)
    #expect(try lab.hubFile(last) == "version 1" && beside(last, "version 2") == "version 2")
  }

  @Test("a file whose name another row had before stays beside it: compact keeps it, and status names its place")
  func guessedRow() throws {
    let guess = try evil
    let row = guess.insert("notes", "e1", note("e1", by: "ann", "guess.jpg"))
    try bring("guess.jpg", "a prank", by: guess, with: [row])
    let author = try ben
    try bring(
      "guess.jpg", "the true one", by: author, with: [author.insert("notes", "b1", note("b1", by: "ben", "guess.jpg"))])
    #expect(lab.tool("compact").code == 0)
    #expect(try beside("guess.jpg", "the true one") == "the true one")
    let status = lab.tool("status").out
    #expect(status.contains("guess.jpg from victim is kept as") && status.contains("into the row"), "\(status)")
  }

  @Test("the names of very many files are compared with their sender's conflicts once")
  func manyNames() throws {
    let names = (0..<300).map { "f\(1000 + $0).jpg" }
    /// Imports a file for each name, together with these lines.
    func bringAll(_ word: String, by forger: Forger, with lines: [JSONValue]) throws {
      let blobs = names.map { Array("\(word) \($0)".utf8) }
      let bundle = try forger.bundle { content in
        content.changes = lines
        content.attachments = zip(names, blobs).map { name, blob in
          [
            "op": "file", "path": .string(name), "digest": .string(Digest.of(blob).hexadecimal),
            "bytes": .integer(Int64(blob.count)),
          ]
        }
        content.blobs = blobs
      }
      #expect(try lab.refusal(of: bundle) == nil)
    }
    let own = try evil
    let reports = try own.bundle { content in
      content.conflicts = try (0..<20_000).map { number in
        try own.conflict("notes", .string("c\(number)"), was: ["body": "a"], now: ["body": .string("\(number)")])
      }
    }
    #expect(try lab.refusal(of: reports) == nil)
    try bringAll("a prank", by: evil, with: [])
    let author = try ben
    let rows = names.map { author.insert("notes", .string("row \($0)"), note("row \($0)", by: "ben", $0)) }
    let before = Self.milliseconds
    try bringAll("the true one", by: author, with: rows)
    // If the hub read all conflicts again for each name, this would take more than ten seconds.
    #expect(Self.milliseconds - before < 5_000)
    #expect(try lab.hubFile("f1000.jpg") == "the true one f1000.jpg")
    #expect(try beside("f1299.jpg", "a prank f1299.jpg") == "a prank f1299.jpg")
  }

  /// The processor time of this thread.
  private static var milliseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
