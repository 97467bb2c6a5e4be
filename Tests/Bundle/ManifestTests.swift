import SatchelBundle
import TestSupport
import Testing

@Suite("Rules of manifests")
struct ManifestTests {
  let room: ReadingRoom
  let good = HandMade()

  init() throws { room = try ReadingRoom() }

  @Test("a newer format, kind, entry or critical member says that a newer version is needed")
  func newer() throws {
    #expect(try room.reason(good.setting("format", "2")) == "newer-format")
    #expect(try room.reason(good.setting("critical", #"["blobs"]"#)) == "newer-format")
    #expect(try room.reason(good.setting("critical", #"["keys", "blobs"]"#)) == "newer-format")
    #expect(try room.reason(good.setting("critical", "[1]")) == "newer-format")
    #expect(try room.reason(good.setting("kind", #""rotation""#)) == "newer-format")
    let blob = good.changing { $0.entries.append(HandMadeEntry("blobs", [1])) }
    #expect(try room.reason(blob) == "newer-format")
  }

  @Test("unknown members are skipped")
  func unknownMembers() throws {
    #expect(try room.reason(good.setting("origin", #"{"hub":[1,2,null]}"#)) == nil)
  }

  @Test("no member may be missing")
  func missing() throws {
    for member in good.members {
      #expect(try room.reason(good.setting(member.name, nil)) == "bad-manifest", "\(member.name)")
    }
  }

  @Test(
    "each member must have the right type",
    arguments: [
      ("format", "0"), ("format", "-1"), ("format", "1.0"), ("format", #""1""#), ("critical", "{}"),
      ("critical", "null"),
      ("critical", #""blobs""#), ("critical", #"["keys", "keys"]"#), ("kind", "1"),
      ("bundle", #""0D6A9F4E-3C1B-4A52-9A7E-5B0F6C2D1E88""#), ("bundle", #""x""#),
      ("dataset", #""D""#), ("dataset", #""../d""#), ("dataset", #""""#), ("version", "0"), ("version", "-1"),
      ("version", "9007199254740992"), ("from", "null"), ("from", #"{"id":"x","name":"tablet"}"#),
      ("from", #"{"id":"6f1c2a9b-7d3e-4f50-8a61-b2c3d4e5f607","name":"a b"}"#), ("to", "{}"), ("user", "null"),
      ("user", #""a\u0007""#), ("created", #""yesterday""#), ("created", #""2026-01-31T08:05:09Z\u001b[2J""#),
      ("stamp", #""8000000000000000""#), ("stamp", #""019C13161A880000""#), ("stamp", "1"), ("epoch", #""e""#),
      ("incarnation", "1"), ("received", "-1"), ("received", "1.5"), ("received", "9007199254740992"),
      ("sequence", "0"), ("counts", "null"), ("counts", #"{"changes":-1,"resolutions":0,"conflicts":0}"#),
      ("counts", #"{"changes":1}"#), ("entries", "null"), ("entries", "[1]"),
      ("entries", #"[{"name":"changes.jsonl","bytes":-1}]"#), ("entries", "[]"),
    ])
  func members(name: String, json: String) throws {
    #expect(try room.reason(good.setting(name, json)) == "bad-manifest")
  }

  @Test("a chain names earlier exports, each once and in their order")
  func chain() throws {
    func chain(_ sequences: [Int], digest: String = HandMade.digest) -> HandMade {
      let links = sequences.map { #"{"sequence":\#($0),"digest":"\#(digest)"}"# }
      return good.changing { made in
        made.set("sequence", "300")
        made.set("chain", "[\(links.joined(separator: ","))]")
        made.comment = good.scopeComment.replacing("satchel scope", with: "satchel changes")
          .replacing("number=2", with: "number=300")
      }
    }
    for right in [[], [1], [299], [1, 7, 299], Array(1...256), Array(44...299)] {
      #expect(try room.reason(chain(right)) == nil)
    }
    for wrong in [[0], [-1], [300], [301], [2, 1], [1, 1], Array(1...257), [1, 9_007_199_254_740_992]] {
      #expect(try room.reason(chain(wrong)) == "bad-manifest", "\(wrong)")
    }
    for digest in ["", "ab", HandMade.digest.uppercased(), HandMade.digest + "00"] {
      #expect(try room.reason(chain([1], digest: digest)) == "bad-manifest", "\(digest)")
    }
    for json in ["null", "{}", "[1]", "[null]", #"[{"sequence":1}]"#, #"[{"digest":"\#(HandMade.digest)"}]"#] {
      #expect(try room.reason(good.setting("chain", json)) == "bad-manifest", "\(json)")
    }
    #expect(try room.reason(good.setting("chain", "[]")) == nil)
  }

  @Test("JSON that is not strict, or has a duplicate")
  func strictness() throws {
    #expect(try room.reason(good.changing { $0.members.append(("sequence", "2")) }) == "bad-manifest")
    #expect(try room.reason(good.setting("user", "\"\u{1}\"")) == "bad-manifest")
    let deep = String(repeating: "[", count: 20) + String(repeating: "]", count: 20)
    #expect(try room.reason(good.setting("deep", deep)) == "bad-manifest")
  }

  @Test("counts that differ from the number of lines")
  func counts() throws {
    func counting(_ changes: Int, _ resolutions: Int = 0) -> HandMade {
      good.setting("counts", #"{"changes":\#(changes),"resolutions":\#(resolutions),"conflicts":0}"#)
    }
    for wrong in [counting(0), counting(2), counting(1, 1)] { #expect(try room.reason(wrong) == "bad-manifest") }
    #expect(try room.reason(HandMade(lines: [])) == nil)
    #expect(try room.reason(good.changing { $0.entries[0].content = [] }) == "bad-manifest")
  }

  @Test("entries that have no place in a bundle of this kind")
  func places() throws {
    let dataset = good.changing { $0.entries.append(HandMadeEntry("dataset.json", Array("{}".utf8))) }
    #expect(try room.reason(dataset) == "bad-manifest")
    let snapshot = good.changing { $0.entries.append(HandMadeEntry("snapshot.sqlite", [1])) }
    #expect(try room.reason(snapshot) == nil)

    #expect(try room.reason(scope("delta", after: 1, ["changes.jsonl"])) == nil)
    #expect(try room.reason(scope("delta", after: 1, ["changes.jsonl", "dataset.json"])) == nil)
    #expect(try room.reason(scope("full", after: 0, ["dataset.json", "snapshot.sqlite"])) == nil)
    #expect(try room.reason(scope("delta", after: 1, ["dataset.json", "migrations.jsonl"])) == nil)
    #expect(try room.reason(scope("full", after: 0, ["dataset.json", "migrations.jsonl", "snapshot.sqlite"])) == nil)
    for wrong in [
      scope("delta", after: 1, ["snapshot.sqlite"]), scope("delta", after: 0, []), scope("delta", after: 2, []),
      scope("full", after: 1, ["dataset.json", "snapshot.sqlite"]), scope("full", after: 0, ["snapshot.sqlite"]),
      scope("full", after: 0, ["dataset.json"]),
      scope("full", after: 0, ["changes.jsonl", "dataset.json", "snapshot.sqlite"]),
      scope("half", after: 1, []), scope("delta", after: 1, ["migrations.jsonl"]),
    ] {
      #expect(try room.reason(wrong) == "bad-manifest")
    }
  }

  /// A hub's bundle with these entries.
  private func scope(
    _ extent: String, after: Int, number: Int = 2, _ names: [String],
    migrations: [String] = [#"{"version":2,"sql":"SELECT 1"}"#]
  ) -> HandMade {
    good.changing { made in
      made.set("kind", #""scope""#)
      made.set("version", "3")
      made.set("number", "\(number)")
      made.set("after", "\(after)")
      made.set("extent", "\"\(extent)\"")
      made.set("acknowledged", "0")
      made.entries = names.map { name in
        let lines = name == "migrations.jsonl" ? migrations : [HandMade.line]
        return HandMadeEntry(name, Array(lines.map { $0 + "\n" }.joined().utf8))
      }
      made.set("counts", #"{"changes":\#(names.contains("changes.jsonl") ? 1 : 0),"resolutions":0,"conflicts":0}"#)
      made.comment = good.scopeComment
    }
  }

  @Test(
    "migrations are in the order of their versions, none above the bundle's",
    arguments: [
      ([#"{"version":2,"sql":""}"#, #"{"version":3,"sql":"x","later":[1]}"#], nil),
      ([#"{"version":1,"sql":""}"#], "bad-line"),
      ([#"{"version":4,"sql":""}"#], "bad-line"),
      ([#"{"version":3,"sql":""}"#, #"{"version":2,"sql":""}"#], "bad-line"),
      ([#"{"version":2,"sql":""}"#, #"{"version":2,"sql":""}"#], "bad-line"), ([#"{"version":2}"#], "bad-line"),
      ([#"{"version":2,"sql":null}"#], "bad-line"), ([#"{"version":2.0,"sql":""}"#], "bad-line"),
      ([#"{"version":2,"sql":"\#(String(repeating: "x", count: 256 << 10))"}"#], nil),
      ([#"{"version":2,"sql":"\#(String(repeating: "x", count: 1 + 256 << 10))"}"#], "bad-line"),
    ] as [([String], String?)])
  func migrations(lines: [String], reason: String?) throws {
    #expect(
      try room.reason(scope("delta", after: 1, ["dataset.json", "migrations.jsonl"], migrations: lines)) == reason)
  }
}
