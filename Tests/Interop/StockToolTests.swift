import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import TestSupport
import Testing

/// A bundle that stock tools alone have unpacked into a folder.
private struct Unpacked {
  let name: String
  let path: String
  let signer: PublicKey
  let folder: String
  let names: [String]
}

@Suite("Stock tools open everything")
struct StockToolTests {
  private let world: ExchangeFixture
  private let bundles: [Unpacked]

  init() throws {
    let world = try ExchangeFixture()
    self.world = world
    bundles = try world.bundles().map { name, path, signer in
      let folder = try world.folder.folder("unpacked-\(name)")
      try world.platform.files.copy(path, to: Paths.join(folder, "bundle"), mode: 0o644)
      try StockTool.tar("--zstd", "-xf", "bundle", in: folder)
      let names = try StockTool.tar("--zstd", "-tf", "bundle", in: folder).lines
      return Unpacked(name: name, path: path, signer: signer, folder: folder, names: names)
    }
  }

  private func bundle(_ name: String) throws -> Unpacked { try #require(bundles.first { $0.name == name }) }

  private func jq(_ bundle: String, _ entry: String, _ filter: String) throws -> [String] {
    try StockTool.jq("-c", filter, entry, in: self.bundle(bundle).folder).lines
  }

  private func sqlite(_ bundle: String, _ sql: String) throws -> [String] {
    try StockTool.sqlite3("-readonly", "snapshot.sqlite", sql, in: self.bundle(bundle).folder).lines
  }

  @Test("zstd, tar, b2sum and minisign find nothing wrong, with each kind of bundle")
  func whole() throws {
    for bundle in bundles {
      try StockTool.zstd("-q", "-t", "bundle", in: bundle.folder)
      #expect(Array(bundle.names.prefix(3)) == ["B2SUMS.minisig", "B2SUMS", "manifest.json"])
      let sums = try StockTool.b2sum("--strict", "-c", "B2SUMS", in: bundle.folder)
      #expect(sums.lines == bundle.names.dropFirst(2).map { "\($0): OK" })
      try world.folder.write(bundle.signer.fileBytes(comment: "x"), to: "key.pub")
      let verified = try StockTool.minisign("-V", "-p", world.folder("key.pub"), "-m", "B2SUMS", in: bundle.folder)
      #expect(verified.text.contains("Trusted comment: satchel "))
      let other = SigningKey.testKey().publicKey.line
      #expect(try StockTool.minisign.run(["-V", "-P", other, "-m", "B2SUMS"], in: bundle.folder).status != 0)
    }
  }

  @Test("tar shows owners, modes and times that are the same in every bundle")
  func headers() throws {
    for bundle in bundles {
      let lines = try StockTool.tar(
        "--zstd", "--numeric-owner", "--full-time", "--utc", "-tvf", "bundle", in: bundle.folder
      )
      .lines
      for line in lines {
        #expect(line.hasPrefix("-rw-r--r-- 0/0 ") && line.contains(" 1970-01-01 00:00:00 "), "\(line)")
      }
    }
  }

  @Test("each kind has the entries that belong to it")
  func entries() throws {
    let expected = [
      "enrolment": [], "changes": ["changes.jsonl", "snapshot.sqlite"],
      "changes-conflicts": ["changes.jsonl", "resolutions.jsonl", "conflicts.jsonl", "state.json"],
      "scope-full": ["dataset.json", "snapshot.sqlite"], "scope-delta": ["changes.jsonl", "conflicts.jsonl"],
    ]
    for bundle in bundles { #expect(Array(bundle.names.dropFirst(3)) == expected[bundle.name], "\(bundle.name)") }
  }

  @Test("jq reads manifests")
  func manifests() throws {
    let word = "[.format, .kind, .dataset, .version, .from.name, .to.name, .user]"
    #expect(try jq("enrolment", "manifest.json", word) == [#"[1,"enrolment","world",1,"tablet","hub",""]"#])
    #expect(try jq("changes", "manifest.json", word) == [#"[1,"changes","world",2,"tablet","hub","ana"]"#])
    #expect(try jq("scope-full", "manifest.json", word) == [#"[1,"scope","world",2,"hub","tablet","ana"]"#])
    #expect(
      try jq("changes", "manifest.json", "[.received, .sequence, (.chain[] | .sequence, (.digest | length))]") == [
        "[1,2,1,128]"
      ])
    let extent = "[.number, .after, .extent, .acknowledged]"
    #expect(try jq("scope-full", "manifest.json", extent) == [#"[1,0,"full",0]"#])
    #expect(try jq("scope-delta", "manifest.json", extent) == [#"[2,1,"delta",2]"#])
    for bundle in bundles {
      let promised = try jq(bundle.name, "manifest.json", ".entries[] | .name, .bytes")
      let found = try bundle.names.dropFirst(3).flatMap { name in
        ["\"\(name)\"", String(try world.platform.files.size(Paths.join(bundle.folder, name)))]
      }
      #expect(promised == found)
    }
  }

  @Test("jq reads a device's changes, with values of every kind")
  func changes() throws {
    let review = #"select(.table == "reviews" and .key == [1, "ana"]) | [.op, .generation, .set, .was]"#
    #expect(
      try jq("changes", "changes.jsonl", review) == [
        #"["update",1,{"stars":5,"words":"naïve"},{"stars":4,"words":"good"}]"#
      ])
    #expect(
      try jq("changes", "changes.jsonl", #"select(.table == "camps" and .op == "update") | [.set, .was]"#)
        == [#"[{"name":"Old Oak","place":{"real":"inf"}},{"name":"Oak","place":48.85}]"#])
    #expect(
      try jq("changes", "changes.jsonl", #"select(.op == "delete" and .table == "reviews") | [.key, .was]"#)
        == [#"[[2,"ana"],{"camp":2,"author":"ana","stars":2,"words":null,"photo":null}]"#])
    #expect(
      try jq("changes", "changes.jsonl", #"select(.op == "insert" and .table == "camps") | .row"#)
        == [#"{"id":{"integer":"-9223372036854775808"},"name":"Yew","tier":1,"place":2}"#])
    let lines = try StockTool.jq(
      "-r", #"select(.key[0] | tostring | test("^[0-9]+ é$")) | .row["é"] | tojson"#, "changes.jsonl",
      in: bundle("changes").folder
    ).lines
    #expect(lines.count == 30)
    for spelling in [
      "null", "9007199254740991", #"{"integer":"9007199254740992"}"#, #"{"integer":"9223372036854775807"}"#,
      #"{"real":"-inf"}"#,
      #""""#, #"{"text":"AA=="}"#, #"{"text":"YQBi"}"#, #"{"text":"//4="}"#, #"{"text":"7aCA"}"#, #"{"blob":""}"#,
      #"{"blob":"dGV4dA=="}"#,
    ] {
      #expect(lines.contains(spelling), "\(spelling)")
    }
    let raw = try StockTool.tar("--zstd", "-xOf", "bundle", "changes.jsonl", in: bundle("changes").folder).text
    for literal in [":0.0", ":-0.0", ":42.0", ":0.1", ":-1.5e+300", ":5e-324", ":1.7976931348623157e+308"] {
      #expect(raw.contains("\(literal),") || raw.contains("\(literal)}"), "\(literal)")
    }
  }

  @Test("jq reads the hub's lines: rows, deleted rows, and conflicts")
  func scope() throws {
    #expect(
      try jq("scope-delta", "changes.jsonl", #"select(.op == "gone") | [.table, .key, .stamp]"#)
        == [
          #"["Dinge é",[1.5],"0000000000000000"]"#, #"["Dinge é",["gone soon"],"0000000000000000"]"#,
          #"["reviews",[2,"ana"],"0000000000000000"]"#, #"["camps",[4],"0000000000000000"]"#,
        ])
    #expect(
      try jq(
        "scope-delta", "changes.jsonl", #"select(.op == "row" and .table == "camps") | [.row.id, .row.name, .row.tier]"#
      )
        == [#"[1,"Great Oak",1]"#, #"[3,"Ash",1]"#])
    #expect(
      try jq(
        "scope-delta", "conflicts.jsonl",
        #"select(.table == "reviews") | [.kind, .state, .base_values, .hub_values, .device_values, .winners]"#)
        == [
          #"["update/update","settled",{"stars":4,"words":"good"},{"stars":1},{"stars":5,"words":"naïve"},{"stars":"hub"}]"#
        ])
  }

  @Test("jq reads decisions")
  func resolutions() throws {
    let decisions = try jq("changes-conflicts", "resolutions.jsonl", ".decision")
    #expect(Set(decisions) == [#""device""#, #""hub""#, #""set""#])
    #expect(try jq("changes-conflicts", "resolutions.jsonl", ".note // empty | .[0:7]").contains(#""counted""#))
    let kinds = try jq("changes-conflicts", "conflicts.jsonl", ".kind + \" \" + .state")
    #expect(!kinds.isEmpty)
  }

  @Test("sqlite3 opens snapshots, with the rows that belong there and no other byte")
  func snapshots() throws {
    for name in ["changes", "scope-full"] {
      #expect(try sqlite(name, "PRAGMA integrity_check; PRAGMA user_version; PRAGMA encoding") == ["ok", "7", "UTF-8"])
      #expect(try sqlite(name, "SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index')") == ["0"])
    }
    #expect(try sqlite("scope-full", "SELECT id, name FROM camps ORDER BY id") == ["1|Oak", "2|Elm", "4|Fir"])
    #expect(try sqlite("scope-full", "SELECT author, hex(photo) FROM reviews ORDER BY camp") == ["ana|00FF", "ana|"])
    #expect(try sqlite("changes", "SELECT name, place FROM camps WHERE id = 1") == ["Old Oak|Inf"])
    #expect(
      try sqlite(
        "changes", "SELECT count(*), sum(typeof(\"é\") = 'real') FROM \"Dinge é\" WHERE \"Schlüssel\" LIKE '% é'") == [
          "30|9"
        ])
    let bytes = String(decoding: try world.folder.read("unpacked-scope-full/snapshot.sqlite"), as: UTF8.self)
    #expect(!bytes.contains("secret") && !bytes.contains("Ash"))
    #expect(try world.folder.text("unpacked-scope-full/dataset.json") == ExchangeFixture.definition)
  }

  @Test("a reader that was written from the format's description understands the same as ours")
  func otherReader() throws {
    let script = URLs.reader
    for bundle in bundles {
      try world.folder.write(bundle.signer.fileBytes(comment: "x"), to: "key.pub")
      let read = try BundleReader(platform: world.platform).read(
        bundle.path, trust: .keys([bundle.signer]), staging: world.folder.path)
      let ours = try canonicalText(of: read)
      #expect(
        try StockTool.python3(script, "-k", world.folder("key.pub"), bundle.path, in: world.folder.path).text == ours)
      #expect(try StockTool.python3(script, bundle.path, in: world.folder.path).text == ours, "as a first contact")
      let other = SigningKey.testKey().publicKey
      try world.folder.write(other.fileBytes(comment: "x"), to: "key.pub")
      #expect(
        try StockTool.python3.run([script, "-k", world.folder("key.pub"), bundle.path], in: world.folder.path).status
          == 3)
    }
  }

  @Test("the other reader too reads a request of a device with a former identity")
  func renewed() throws {
    let (device, _) = try world.device("phone", user: "ana", tier: 1)
    _ = try device.importBundle(world.emit(to: device))
    try world.write("UPDATE camps SET name = 'Oak of the phone' WHERE id = 1", in: device.folder)
    _ = try world.export(device)
    let (renewed, request) = (try device.renew(name: "second"), world.folder("renewed.satchel"))
    let key = try renewed.writeRequest(to: request)
    let read = try BundleReader(platform: world.platform).read(request, trust: .keys([key]), staging: world.folder.path)
    let ours = try canonicalText(of: read)
    #expect(ours.contains("continues: \(device.configuration.id) 0 1 [1 "))
    #expect(try StockTool.python3(URLs.reader, request, in: world.folder.path).text == ours)
  }

  @Test("our reader takes a bundle that stock tools made")
  func theirs() throws {
    let bundle = try bundle("changes")
    let staging = try world.folder.folder("staging")
    for format in ["ustar", "gnu", "pax"] {
      try StockTool.tar(
        ["--format=\(format)", "-cf", "\(format).tar"] + bundle.names, in: bundle.folder)
      try StockTool.zstd("-q", "-9", "\(format).tar", in: bundle.folder)
      let read = try BundleReader(platform: world.platform).read(
        Paths.join(bundle.folder, "\(format).tar.zst"), trust: .keys([bundle.signer]), staging: staging)
      let ours = try BundleReader(platform: world.platform).read(
        bundle.path, trust: .keys([bundle.signer]), staging: staging)
      let (theirText, ourText) = (try canonicalText(of: read), try canonicalText(of: ours))
      #expect(theirText == ourText)
    }
  }

  @Test("hostile archives that stock tools make are refused")
  func hostile() throws {
    let bundle = try bundle("changes")
    let staging = try world.folder.folder("staging")
    let rest = Array(bundle.names.dropFirst())
    func reason(_ make: [String]) throws -> String? {
      try StockTool.tar(make, in: bundle.folder)
      try StockTool.zstd("-q", "-f", "hostile.tar", in: bundle.folder)
      do {
        _ = try BundleReader(platform: world.platform).read(
          Paths.join(bundle.folder, "hostile.tar.zst"), trust: .keys([bundle.signer]), staging: staging
        ).signer
        return nil
      } catch let error as BundleError { return error.reason }
    }
    try StockTool.python3(
      "-c",
      "import os; os.symlink('B2SUMS', 'link'); os.link('B2SUMS', 'hard'); os.mkfifo('pipe'); open('holes', 'wb').truncate(1 << 34)",
      in: bundle.folder)
    let create = ["-cf", "hostile.tar"]
    #expect(try reason(create + bundle.names) == nil)
    for name in ["link", "pipe", "holes", "/dev/null", "."] {
      let made = try reason(
        create + ["--no-recursion", "-S", "--transform", "s,.*,B2SUMS.minisig,", name] + rest)
      #expect(made == "bad-entry" || made == "not-a-bundle", "\(name): \(made ?? "accepted")")
    }
    #expect(try reason(create + ["hard"] + bundle.names) == "bad-entry")
    #expect(try reason(create + bundle.names.map { "./\($0)" }) == "bad-entry")
    #expect(try reason(create + bundle.names.reversed()) == "bad-entry")
    #expect(try reason(create + bundle.names + ["link"]) == "bad-entry")
    #expect(try reason(create + bundle.names + bundle.names) == "bad-entry")
    #expect(try reason(create + ["--format=pax", "--pax-option=comment=hidden"] + bundle.names) != nil)
    #expect(try reason(create + ["--format=v7"] + bundle.names) == "not-a-bundle")
    #expect(try world.platform.files.list(staging) == [])
  }

  /// Triggers make stamps with SQLite's own clock. So a bundle with stamps differs from run to run, and is not
  /// compared.
  @Test("the same state gives the same bytes", arguments: ["enrolment", "scope-full"])
  func deterministic(name: String) throws {
    let again = try ExchangeFixture()
    for (one, other) in zip(bundles, try again.bundles()) where one.name == name {
      let same =
        try world.platform.files.read(one.path, limit: 1 << 24) == again.platform.files.read(other.path, limit: 1 << 24)
      #expect(same)
    }
  }
}
