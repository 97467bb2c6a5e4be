import Foundation
import SatchelPlatform
import TestSupport
import Testing

@Suite("The pages of the console", .serialized)
struct ConsolePagesTests {
  /// Makes a hub with people, whose names are their labels. The devices of ann and ben and the office wrote different
  /// ages and stories.
  private func quarrel(_ people: [(id: String, name: String)]) throws -> TwoDeviceFixture {
    let values = people.map { "('\($0.id)', '\($0.name)', 1, 'the fox ran over the old hill', 'faces/\($0.id).png')" }
    let fixture = try TwoDeviceFixture(
      """
      CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT, age INTEGER, story TEXT, face TEXT);
      CREATE TABLE visits (id TEXT PRIMARY KEY, day TEXT);
      INSERT INTO people VALUES \(values.joined(separator: ", "));
      INSERT INTO visits VALUES ('v1', 'Monday');
      """,
      """
      "people": { "conflict": "manual", "label": "name", "attachments": ["face"] },
      "visits": { "conflict": "manual" }
      """
    )
    let story = "story = 'the fox ran over the new hill'"
    try fixture.sql("tablet", "UPDATE people SET age = 2, \(story)")
    try fixture.sql("phone", "UPDATE visits SET day = 'Tuesday'")
    try fixture.sql(
      "office", "UPDATE people SET age = 3, story = 'the dog ran over the old hill'; UPDATE visits SET day = 'Friday'")
    for name in ["tablet", "phone"] { try fixture.deliver(name) }
    return fixture
  }

  private static let three = [("p1", "Ida"), ("p2", "Ole"), ("p3", "Una")]

  // MARK: Overview

  @Test("the overview shows what needs a person, and the device that was silent for the longest time first")
  func overview() throws {
    let fixture = try quarrel(Self.three)
    try fixture.camp.letBeSilent("phone", days: 40)
    try fixture.camp.inBrowser { browser throws in
      let page = browser.get("/").text
      for words in [
        "<b>4</b>\n<p>wait for your decision", "Silent devices", "40 days ago", "<meter", "There is none yet.",
        "2 bundles with changes came on 1 day", "The same as a table", "class=\"count\">4 open",
        "aria-current=\"page\">Overview",
      ] {
        #expect(page.contains(words), "\(words) in \(page)")
      }
      let (phone, tablet) = (page.range(of: "device?name=phone"), page.range(of: "device?name=tablet"))
      #expect(try #require(phone).lowerBound < #require(tablet).lowerBound)
      #expect(browser.get("/steps").text.contains("satchel-hub conflicts"))
      #expect(browser.get("/devices").text.contains("2 devices, page 1 of 1"))
    }
  }

  @Test("if nothing needs a person, the overview says so")
  func calm() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.backUp()
    try camp.inBrowser { browser throws in
      let page = browser.get("/").text
      #expect(page.contains("Nothing waits for a person") && !page.contains("class=\"card bad"), "\(page)")
      #expect(page.contains("No bundle with changes came in the last 60 days"))
    }
  }

  // MARK: The list

  @Test("the list names rows by their labels, with both values, and each filter narrows it")
  func filters() throws {
    let fixture = try quarrel(Self.three)
    try fixture.camp.inBrowser { browser throws in
      let all = browser.get("/conflicts").text
      for words in [">Ida</a>", "people [p1]", "<small>age</small> 3", "<small>age</small> 2", "4 in all"] {
        #expect(all.contains(words), "\(words) in \(all)")
      }
      for (query, count) in [
        ("table=people", 3), ("table=visits", 1), ("user=ben", 1), ("device=tablet", 3), ("kind=update/update", 4),
        ("kind=unique", 0), ("from=2020-01-01&until=2099-12-31", 4), ("until=2020-01-01", 0), ("text=una", 1),
        ("text=new%20hill", 3), ("text=Friday", 1), ("text=%25", 0), ("text=people", 0), ("state=held", 0),
        ("state=all&device=phone", 1), ("table=people&text=Ole", 1),
      ] {
        let page = browser.get("/conflicts?\(query)").text
        let words = count == 0 ? "that this filter shows" : "\(count) in all"
        #expect(page.contains(words), "\(query): \(page)")
      }
      #expect(browser.get("/conflicts?device=none").status == 400)
      #expect(browser.get("/conflicts?from=yesterday").status == 400)
      #expect(browser.get("/conflicts?text=Ole").text.contains("&amp;text=Ole\">Ole</a>"))
    }
  }

  @Test("a decision about chosen conflicts is shown before it is made, and is about no others")
  func chosen() throws {
    let fixture = try quarrel(Self.three)
    try fixture.camp.inBrowser { browser throws in
      let ids = try fixture.camp.conflictIDs().filter { id in
        browser.get("/conflict?id=\(id)").text.contains("people: ")
      }
      let two = ids.prefix(2).map { "&id=\($0)" }.joined()
      let page = browser.get("/decide?policy=device\(two)").text
      for words in [
        "Decide 2 conflicts", "2 conflicts will be decided.", "How to undo it", "name=\"seen\"",
      ] {
        #expect(page.contains(words), "\(words) in \(page)")
      }
      #expect(try fixture.rows("office", "SELECT count(*) FROM people WHERE age = 2") == "0")
      #expect(browser.get("/decide?policy=device").text.contains("no conflict is chosen"))
      #expect(browser.get("/decide?policy=all\(two)").status == 400)
      // The form does not decide about a row that was changed since the page was made. The answer says so.
      let first = try #require(ids.first)
      let name = ["p1", "p2", "p3"].first { browser.get("/conflict?id=\(first)").text.contains("[\($0)]") }
      try fixture.sql("office", "UPDATE people SET age = 9 WHERE id = '\(try #require(name))'")
      let left = browser.get("/decide?policy=device\(two)").text
      #expect(left.contains("1 conflict will be decided, and 1 left as they are:"), "\(left)")
      let seen = browser.get("/decide?policy=device&id=\(ids[1])").setMark
      let form = ["policy": "device", "seen": seen, "id": ids[1], "note": "by phone"]
      // This mark also belongs to one conflict, but to another conflict than the form's.
      let other = browser.get("/decide?policy=device&id=\(ids[0])").setMark
      #expect(browser.post("/conflicts", form.merging(["seen": other]) { $1 }).status == 409)
      #expect(browser.post("/conflicts", form).text.contains("1 conflict decided by the rule device"))
      #expect(try fixture.rows("office", "SELECT count(*) FROM people WHERE age = 2") == "1")
      #expect(try fixture.camp.conflictIDs().count == 3)
    }
  }

  @Test("decisions are taken back one by one, or all since a time after a page that says what will happen")
  func takenBack() throws {
    let fixture = try quarrel(Self.three)
    let ages = { try fixture.rows("office", "SELECT group_concat(age) FROM people") }
    try fixture.camp.inBrowser { browser throws in
      let seen = browser.get("/decide?policy=device&table=people&all=1").setMark
      let form = ["policy": "device", "table": "people", "all": "1", "seen": seen]
      let done = browser.post("/conflicts", form).text
      #expect(try ages() == "2,2,2")
      let since = try #require(
        done.components(separatedBy: "reopen?since=").dropFirst().first?.prefix { $0.isNumber })
      let page = browser.get("/reopen?since=\(since)")
      #expect(page.text.contains("Take back 3 decisions") && page.text.contains("people 3"), "\(page.text)")
      #expect(try ages() == "2,2,2")
      let back = ["since": String(since), "seen": page.setMark]
      let other = browser.post("/reopen", back.merging(["seen": seen]) { $1 })
      #expect(other.status == 409 && other.text.contains("changed after you looked"))
      #expect(browser.post("/reopen", back).text.contains("3 conflicts open again"))
      #expect(try ages() == "3,3,3")
      #expect(browser.get("/reopen?since=\(since)").status == 409)
      let ids = try fixture.camp.conflictIDs()
      let id = try #require(ids.first { browser.get("/conflict?id=\($0)").text.contains("people: ") })
      let mark = browser.get("/conflict?id=\(id)").rowMark
      #expect(browser.post("/conflict", ["id": id, "row": mark, "keep": "device"]).status == 303)
      #expect(browser.get("/conflict?id=\(id)").text.contains("Take this decision back"))
      #expect(browser.post("/reopen", ["id": id]).status == 303)
      #expect(try ages() == "3,3,3")
    }
  }

  // MARK: One conflict

  @Test("a typed value is chosen without a click, and a typed value beside another choice is asked about")
  func typed() throws {
    let fixture = try quarrel([("p1", "Ida")])
    try fixture.camp.inBrowser { browser throws in
      let ids = try fixture.camp.conflictIDs()
      let id = try #require(ids.first { browser.get("/conflict?id=\($0)").text.contains("people: Ida") })
      let page = browser.get("/conflict?id=\(id)")
      let place = try #require(
        (0..<3).first { place in
          page.text.contains("name=\"own\(place)\" data-own=\"own\(place)\" aria-label=\"Another value for age\"")
        })
      let fields = ["id": id, "row": page.rowMark, "keep": "columns", "own\(place)": "42"]
      let both = browser.post("/conflict", fields.merging(["pick\(place)": "hub"]) { $1 })
      #expect(both.status == 400 && both.text.contains("42"), "\(both.text)")
      #expect(try fixture.rows("office", "SELECT age FROM people") == "3")
      #expect(browser.post("/conflict", fields).status == 303)
      #expect(try fixture.rows("office", "SELECT age, story FROM people") == "42|the dog ran over the old hill")
    }
  }

  @Test("a conflict marks changed words, shows the whole row, and leads to the next conflict")
  func onward() throws {
    let fixture = try quarrel(Self.three)
    try fixture.camp.inBrowser { browser throws in
      let ids = try fixture.camp.conflictIDs()
      let id = try #require(ids.first { browser.get("/conflict?id=\($0)").text.contains("people: ") })
      let page = browser.get("/conflict?id=\(id)&table=people")
      for words in [
        "the <del>fox</del><ins>dog</ins> ran over", "the <del>old</del><ins>new</ins> hill", "<dt>name</dt>",
        "Decide and next (2 left)", "action=\"conflict?then=next&amp;table=people\"",
      ] {
        #expect(page.text.contains(words), "\(words) in \(page.text)")
      }
      let fields = ["id": id, "row": page.rowMark, "keep": "device", "note": "asked"]
      let answer = browser.post("/conflict?then=next&table=people", fields)
      let next = try #require(answer.header("Location"))
      #expect(
        answer.status == 303 && next.hasSuffix("&table=people&done=\(id)") && !next.contains("id=\(id)&"), "\(next)")
      let shown = browser.get("/\(next)").text
      #expect(shown.contains("people: ") && shown.contains("Decide and next (1 left)"), "\(shown)")
    }
  }

  @Test("small pictures that rows name are shown, and no other file is sent")
  func pictures() throws {
    let fixture = try quarrel([("p1", "Ida")])
    let camp = fixture.camp
    try camp.makeFolder("hub/files/faces")
    let start: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
    try Data(start + [0, 0, 0, 1, 0, 0, 0, 1]).write(to: URL(fileURLWithPath: camp.path("hub/files/faces/p1.png")))
    try Data(start + [0, 1, 0, 0, 0, 1, 0, 0]).write(to: URL(fileURLWithPath: camp.path("hub/files/huge.png")))
    try camp.write("hub/files/page.png", "<script>alert(1)</script>")
    try camp.inBrowser { browser throws in
      let row = browser.get("/row?table=people&key=p1").text
      #expect(row.contains("<img src=\"file?path=faces%2Fp1.png\" alt=\"faces/p1.png\""), "\(row)")
      let picture = browser.get("/file?path=faces%2Fp1.png")
      #expect(picture.status == 200 && picture.header("Content-Type") == "image/png")
      #expect(picture.headers.contains("nosniff") && picture.headers.contains("default-src 'none'"))
      for path in ["page.png", "huge.png", "none.png", "..%2Fsatchel.json", "%2Fetc%2Fpasswd", "faces"] {
        #expect(browser.get("/file?path=\(path)").status == 404, "\(path)")
      }
    }
  }

  // MARK: Rows

  @Test("rows are found by their content, and a row's page shows its history and who sees it")
  func rows() throws {
    let fixture = try quarrel(Self.three)
    try fixture.camp.inBrowser { browser throws in
      let found = browser.get("/rows?text=UNA").text
      #expect(found.contains(">Una</a>") && found.contains("name: Una") && found.contains("1 row"), "\(found)")
      #expect(browser.get("/rows?text=nothing").text.contains("No row has this text"))
      #expect(browser.get("/rows?table=visits").text.contains("visits [v1]"))
      #expect(browser.get("/rows?table=none").status == 409)
      let row = browser.get("/row?table=people&key=p3").text
      for words in ["<dt>age</dt><dd>3</dd>", ">ann</a>", ">ben</a>", "age: 1 -&gt; 3", "at the hub", "update/update"] {
        #expect(row.contains(words), "\(words) in \(row)")
      }
    }
  }

  @Test("rows can be looked at as a user sees them, and no other row is shown then")
  func asUser() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.inBrowser { browser throws in
      let all = browser.get("/rows?table=sites").text
      #expect(all.contains("sites [cave]"), "\(all)")
      let seen = browser.get("/rows?table=sites&as=ann").text
      #expect(seen.contains("2 rows that ann sees") && seen.contains("sites [lake]"), "\(seen)")
      #expect(!seen.contains("[cave]") && seen.contains("<h1>Rows as ann sees them</h1>"), "\(seen)")
      #expect(browser.get("/rows?text=cave&as=ann").text.contains("ann sees none of the rows"))
      #expect(browser.get("/rows?text=cave&as=ben").text.contains("sites [cave]"))
      #expect(browser.get("/rows?as=zoe").status == 409)
      #expect(browser.get("/scopes?user=ann").text.contains("href=\"rows?as=ann\""))
    }
  }

  @Test("with many users, the page of a row says how many of them were looked at")
  func manyUsers() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('peak', 'Peak', 99)")
    let users = (1...100).map { "u\($0),2\n" }.joined()
    try camp.write("team.csv", "user,tier\n\(users)")
    #expect(camp.hub("user", "import", camp.path("team.csv")).code == 0)
    try camp.inBrowser { browser throws in
      let hidden = browser.get("/row?table=sites&key=peak").text
      #expect(hidden.contains("None of the first 100 of 102 users sees it."), "\(hidden)")
      let seen = browser.get("/row?table=sites&key=lake").text
      #expect(seen.contains("Only the first 100 of 102 users were looked at."), "\(seen)")
    }
  }

  // MARK: All pages

  private static let hostile = "<script>\"''&</td>"

  @Test("hostile values are text on every page, each field has a label, and all elements are closed")
  func markup() throws {
    let fixture = try quarrel([("<i>\"&", Self.hostile)])
    let camp = fixture.camp
    let check = """
      import sys, html.parser
      class Check(html.parser.HTMLParser):
        def __init__(self):
          super().__init__()
          self.stack, self.wanted, self.labels = [], set(), set()
        def handle_starttag(self, tag, attributes):
          values = dict(attributes)
          assert tag not in ('i', 'iframe', 'object', 'base'), tag
          if tag == 'label': self.labels.add(values.get('for'))
          if tag in ('input', 'select', 'textarea') and values.get('type') != 'hidden':
            if 'label' not in self.stack and not values.get('aria-label'):
              self.wanted.add(values.get('id', self.getpos()))
          if tag == 'img': assert values.get('alt') is not None
          if tag in ('svg', 'nav'): assert values.get('aria-label'), tag
          if tag not in ('meta', 'link', 'input', 'br', 'img'): self.stack.append(tag)
        def handle_startendtag(self, tag, attributes): pass
        def handle_endtag(self, tag): assert self.stack.pop() == tag, tag
      for file in sys.argv[1:]:
        check = Check()
        check.feed(open(file).read())
        assert check.stack == [] and check.wanted <= check.labels, (file, check.stack, check.wanted)
      """
    try camp.inBrowser { browser throws in
      let ids = try camp.conflictIDs()
      let id = try #require(ids.first { browser.get("/conflict?id=\($0)").text.contains("people") })
      let key = "%3Ci%3E%22%26"
      var files: [String] = []
      for (number, path) in [
        "/", "/devices", "/steps", "/conflicts", "/conflicts?text=%3Cscript%3E%22", "/conflicts?table=%3Ci%3E",
        "/conflicts?user=%3Ci%3E%22", "/conflict?id=\(id)&text=%22%3E%3Ci%3E", "/decide?policy=hub&id=\(id)",
        "/decide?policy=newest&all=1&text=%3Cscript%3E", "/rows", "/rows?text=%3Cscript%3E", "/rows?table=people",
        "/row?table=people&key=\(key)", "/scopes", "/scopes?user=ann&table=people&key=\(key)", "/bundles", "/nowhere",
        "/conflict?id=%3Ci%3E", "/rows?table=%3Ci%3E",
      ].enumerated() {
        let page = browser.get(path)
        #expect(page.text.utf8.count <= 20_000, "\(path)")
        #expect(!page.text.contains("<i>") && !page.text.contains("<script>"), "\(path): \(page.text)")
        try camp.write("page\(number).html", page.text)
        files.append(camp.path("page\(number).html"))
      }
      let complaint = try StockTool.python3.run(["-c", check] + files, in: camp.root).complaint
      #expect(complaint == "", "\(complaint)")
    }
  }

  @Test("style and script come from the session's folder alone, and allow nothing")
  func resources() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.inBrowser { browser throws in
      let style = browser.get("/style.css")
      #expect(style.header("Content-Type") == "text/css; charset=utf-8" && style.text.contains("prefers-color-scheme"))
      #expect(style.text.contains("@media print") && !style.text.contains("url(") && !style.text.contains("@import"))
      let script = browser.get("/console.js")
      #expect(script.header("Content-Type") == "text/javascript; charset=utf-8" && !script.text.contains("innerHTML"))
      for path in ["/style.css", "/console.js"] {
        #expect(browser.get(path).headers.contains("default-src 'none'"))
        #expect(browser.get(path, cookie: nil).status == 403)
      }
    }
  }
}
