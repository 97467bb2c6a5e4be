import Foundation
import SatchelJSON
import TestSupport
import Testing

@Suite("Status and reports")
struct ReportTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  private func text(_ name: String) throws -> String { String(decoding: try camp.read(name), as: UTF8.self) }

  private func quarrel(_ words: String) throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = '\(words)' WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'loud' WHERE id = 'r1'")
    camp.deliver("tablet", 1)
  }

  @Test("status names bundles that never came, refused files with their reason, and everything that is to be done")
  func hub() throws {
    for stars in 1...4 {
      try camp.sql(
        "tablet/data.sqlite", "UPDATE reviews SET stars = \(stars) WHERE id = 'r1'; UPDATE reviews SET words = 'w'")
      camp.device("tablet", "export")
    }
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'loud' WHERE id = 'r1'")
    try camp.writeDamagedBundle("broken.satchel")
    camp.hub("import", camp.path("broken.satchel"))
    camp.hub("import", camp.path("tablet/bundles/sent/camp-tablet-hub-1.satchel"))
    camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-4.satchel"))
    let status = camp.hub("status")
    #expect(status.out.contains("2-3\n") && status.out.contains("NEVER CAME"), "\(status.out)")
    #expect(status.out.contains("1 refused file; the newest, "))
    #expect(status.out.contains("Next: satchel-hub conflicts\nThen: satchel-hub quarantine list"))
    let document = try camp.hub("status", "--json").json
    let device = document["devices"]?.arrayValue?.first { $0["name"] == "tablet" }
    #expect(device?["missing"] == [[2, 3]])
    #expect(document["refused"]?.arrayValue?.first?["reason"]?.stringValue?.isEmpty == false)
    #expect(document["next"]?.arrayValue?.first == "satchel-hub conflicts")
  }

  @Test("a device reports the hub's last contact, and both sides name a side that was silent for long")
  func silence() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try camp.carry("tablet")
    #expect(camp.device("tablet", "status").out.contains("your export 1, made just now"))
    #expect(!camp.device("tablet", "status").out.contains("no bundle came"))
    camp.platform = .still(clock: SetClock(camp.platform.clock.milliseconds() + 40 * 86_400_000))
    #expect(camp.device("tablet", "status").out.contains("no bundle came from the hub for 40 days"))
    #expect(camp.hub("status").out.contains("no bundle came for 30 days or more from phone, tablet"))
  }

  @Test("a hub's report is one page without scripts, in which no value becomes markup, and the same as CSV")
  func hubReport() throws {
    try quarrel("<script>alert(1)</script> & \"more\"")
    let outcome = camp.hub("report", camp.path("r.html"), camp.path("r.csv"), "--json")
    #expect(try outcome.json["files"]?.arrayValue?.count == 2)
    let html = try text("r.html")
    #expect(html.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;"))
    #expect(!html.contains("<script") && !html.contains("http://") && !html.contains("https://"))
    for words in [
      "<html lang=\"en\">", "<caption>Devices</caption>", "scope=\"row\">tablet</th>", "@media print",
      "No file was refused.",
    ] {
      #expect(html.contains(words), "\(words)")
    }
    let csv = try text("r.csv")
    #expect(csv.hasPrefix("section,row,column,value\r\n") && csv.contains("Devices,phone,User,ben\r\n"))
  }

  @Test("a device's report, before and after its first bundle")
  func deviceReport() throws {
    camp.deviceAnywhere(
      "init", camp.path("radio"), "--dataset", "camp", "--name", "radio", "--request", camp.path("radio.satchel"))
    #expect(camp.device("radio", "report", camp.path("radio.html")).code == 0)
    #expect(try text("radio.html").contains("it has no data yet"))
    try quarrel("mine")
    camp.answer("tablet", 2)
    #expect(camp.device("tablet", "report", camp.path("t.html")).code == 0)
    #expect(try text("t.html").contains("Device tablet of the dataset camp"))
  }

  @Test("a page is well-formed")
  func wellFormed() throws {
    try quarrel("mine")
    camp.hub("report", camp.path("r.html"))
    let check = """
      import sys, html.parser
      class Check(html.parser.HTMLParser):
        stack = []
        def handle_starttag(self, tag, attributes):
          if tag not in ('meta', 'input', 'br'): self.stack.append(tag)
        def handle_endtag(self, tag): assert self.stack.pop() == tag, tag
      parser = Check()
      parser.feed(open(sys.argv[1]).read())
      assert parser.stack == [], parser.stack
      """
    #expect(try StockTool.python3.run(["-c", check, camp.path("r.html")], in: camp.root).complaint == "")
  }

  @Test("a report's name must show its form, and a missing folder is reported")
  func refusals() throws {
    #expect(camp.hub("report", camp.path("r.pdf")).code == 2)
    #expect(camp.hub("report", camp.path("nowhere/r.html")).code == 1)
  }
}
