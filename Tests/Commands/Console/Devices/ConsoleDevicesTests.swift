import Foundation
import SatchelPlatform
import TestSupport
import Testing

@Suite("The console's pages about devices", .serialized)
struct ConsoleDevicesTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  private func member(_ name: String, of device: String = "tablet") throws -> String? {
    try camp.hub("device", "show", device, "--json").json["device"]?[name]?.stringValue
  }

  // MARK: The list and the page

  @Test("the list finds devices, and the page of a device shows its health, its bundles and what waits")
  func shown() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    try camp.inBrowser { browser throws in
      let all = browser.get("/devices").text
      #expect(all.contains("device?name=tablet") && all.contains("device?name=phone"), "\(all)")
      #expect(all.contains("href=\"provision\"") && all.contains("href=\"enrol\""))
      let found = browser.get("/devices?text=BEN").text
      #expect(found.contains("device?name=phone") && !found.contains("device?name=tablet"))
      let page = browser.get("/device?name=tablet").text
      for words in [
        "<dt>Fingerprint</dt>", "<dt>Free disk</dt>", "<dt>Doctor</dt>", "<dt>Last day</dt><dd>none",
        "Nothing of this device waits here", "imported", "<option>ben</option>", "satchel renew --name",
      ] {
        #expect(page.contains(words), "\(words) in \(page)")
      }
      // The page does not show the phone, although the hub's ledger also has bundles of the phone.
      #expect(!page.contains("<option>ann</option>") && !page.contains(">phone<"))
      let none = browser.get("/device?name=none")
      #expect(none.status == 409 && none.text.contains("There is no device none."))
    }
  }

  @Test("each page about a device says when the hub last proved that the device had the hub's rows")
  func verified() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    try camp.by(SetClock(SystemClock().milliseconds() + 2 * 86_400_000 + 60_000)) {
      try camp.inBrowser(on: camp.platform) { browser throws in
        for path in ["/", "/devices"] {
          let page = browser.get(path).text
          for words in ["2 days ago", "never"] {
            #expect(page.contains("<td data-label=\"Verified\">\(words)</td>"), "\(words) in \(page)")
          }
        }
        for (device, words) in [("tablet", "2 days ago"), ("phone", "never")] {
          let page = browser.get("/device?name=\(device)").text
          #expect(page.contains("<dt>Verified</dt><dd>\(words)</dd>"), "\(page)")
        }
      }
    }
  }

  @Test("a device is put on hold and released by forms, and each page says before what will happen")
  func held() throws {
    try camp.inBrowser { browser throws in
      #expect(browser.get("/device?name=tablet").text.contains("Put it on hold ..."))
      let question = browser.get("/device-hold?name=tablet").text
      #expect(question.contains("nothing of them is merged") && question.contains("name=\"note\""), "\(question)")
      #expect(try member("hold_since") == nil)
      let done = browser.work("/device-hold", ["name": "tablet", "act": "hold", "note": "--lost it"]).text
      #expect(done.contains("Put the device tablet on hold"), "\(done)")
      #expect(try member("hold_note") == "--lost it")
      try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
      camp.deliver("tablet", 1)
      let page = browser.get("/device?name=tablet").text
      #expect(page.contains("It is on hold") && page.contains("its device is on hold"), "\(page)")
      #expect(browser.get("/device-hold?name=tablet").text.contains("what waits from tablet: 1 bundle"))
      #expect(browser.post("/device-hold", ["name": "tablet", "act": "delete"]).status == 400)
      let released = browser.work("/device-hold", ["name": "tablet", "act": "release"]).text
      #expect(released.contains("Bundle 1 of tablet: 1 change taken"), "\(released)")
      #expect(try member("hold_since") == nil)
    }
  }

  @Test("all pages about devices are small, and have nothing inline")
  func small() throws {
    for number in 1...60 { camp.hub("user", "add", "user-\(number)", "tier=1") }
    let into = percent(camp.path("new"))
    try camp.inBrowser { browser throws in
      for path in [
        "/devices", "/device?name=tablet", "/device-set?name=tablet&user=ben", "/device-revoke?name=tablet", "/enrol",
        "/device-hold?name=tablet",
        "/provision", "/provision?name=new&user=ann&into=\(into)", "/users", "/user?name=ann", "/user-add?name=x",
        "/user-set?name=ann&attribute.tier=2",
      ] {
        let page = browser.get(path)
        #expect(page.status == 200 && page.text.utf8.count <= 20_000, "\(path): \(page.text)")
        #expect(!page.text.contains("<style") && !page.text.contains(" style=") && !page.text.contains(" onclick"))
        #expect(!page.text.contains("&lt;td") && !page.text.contains("Markup("), "\(path)")
      }
      // If there are many users, the page has a text field for the name instead of a list.
      #expect(browser.get("/provision").text.contains("<input name=\"user\""))
    }
  }

  // MARK: Changes

  @Test("a device is given to another user after a page that says which rows it gets and which rights end")
  func given() throws {
    try camp.inBrowser { browser throws in
      let page = browser.get("/device-set?name=tablet&user=ben")
      for words in [
        "tablet works for ben in place of ann", "Rows given", "Users may no longer change 1 row of reviews",
        "may still come from these devices", "How to undo it",
      ] {
        #expect(page.text.contains(words), "\(words) in \(page.text)")
      }
      #expect(try member("user") == "ann")
      let form = ["name": "tablet", "user": "ben", "seen": page.setMark]
      #expect(browser.post("/device-set", form, origin: "http://evil.example").status == 403)
      let done = browser.post("/device-set", form)
      #expect(done.status == 303 && done.header("Location") == "device?name=tablet&done=1", "\(done)")
      #expect(try member("user") == "ben")
      #expect(browser.get("/device?name=tablet&done=1").text.contains("takes effect with the next bundle"))
    }
  }

  @Test("a change whose effect is another one by now is not made")
  func stale() throws {
    try camp.inBrowser { browser throws in
      let seen = browser.get("/device-set?name=tablet&user=ben").setMark
      try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('bay', 'Bay', 2)")
      let form = ["name": "tablet", "user": "ben", "seen": seen]
      let again = browser.post("/device-set", form)
      #expect(again.status == 409 && again.text.contains("Nothing was changed"), "\(again)")
      #expect(try member("user") == "ann")
      #expect(browser.post("/device-set", ["name": "tablet", "user": "ben"]).text.contains("the field seen is empty"))
      #expect(browser.post("/device-set", form.merging(["seen": again.setMark]) { $1 }).status == 303)
      #expect(try member("user") == "ben")
    }
  }

  @Test("a last day and the right to change rows are set, and refusals have the words of the command")
  func limits() throws {
    func change(_ browser: Browser, _ field: String, _ value: String) -> Int {
      let seen = browser.get("/device-set?name=tablet&\(field)=\(value)").setMark
      return browser.post("/device-set", ["name": "tablet", field: value, "seen": seen]).status
    }
    try camp.inBrowser { browser throws in
      let page = browser.get("/device-set?name=tablet&expires=2099-12-31").text
      #expect(page.contains("2099-12-31 is the last day") && page.contains("No user gets or loses rows."), "\(page)")
      #expect(browser.get("/device-set?name=tablet&expires=2020-01-01").text.contains("2020-01-01 is over"))
      #expect(change(browser, "expires", "2099-12-31") == 303)
      #expect(try member("expires") != nil)
      let shown = browser.get("/device?name=tablet").text
      #expect(shown.contains("<dt>Last day</dt><dd>2099-12-31") && shown.contains("No last day ..."), "\(shown)")
      // The browser sends the button's value after the field's value, so the button counts.
      let never = browser.get("/device-set?name=tablet&expires=2099-12-31&expires=never").text
      #expect(never.contains("no last day any more"), "\(never)")
      #expect(change(browser, "expires", "never") == 303)
      #expect(try member("expires") == nil)
      #expect(change(browser, "edits", "no") == 303)
      #expect(browser.get("/device?name=tablet").text.contains("Accept its changes ..."))
      for (path, status, words) in [
        ("name=tablet", 400, "nothing to change"), ("name=tablet&expires=soon", 400, "a day such as 2026-12-31"),
        ("name=tablet&user=nora", 409, "There is no user nora."),
        ("name=none&user=ben", 409, "There is no device none."),
      ] {
        let page = browser.get("/device-set?\(path)")
        #expect(page.status == status && page.text.contains(words), "\(path): \(page)")
      }
    }
  }

  @Test("a device is revoked after a page that says from which bundle on it is refused")
  func revoked() throws {
    try camp.inBrowser { browser throws in
      let page = browser.get("/device-revoke?name=tablet")
      #expect(page.text.contains("no bundle is made for the device"), "\(page)")
      #expect(page.text.contains("refused from 1 on") && page.text.contains("stays revoked"))
      #expect(browser.get("/device-revoke?name=tablet&from=8").text.contains("refused from 8 on"))
      #expect(browser.get("/device-revoke?name=tablet&from=0").status == 400)
      #expect(try member("state") == "active")
      let other = browser.post("/device-revoke", ["name": "tablet", "from": "8", "seen": page.setMark])
      #expect(other.status == 409 && other.text.contains("Nothing was changed"), "\(other)")
      let done = browser.post("/device-revoke", ["name": "tablet", "seen": page.setMark])
      #expect(done.text.contains("Revoked the device tablet: its bundles are refused from 1 on."), "\(done)")
      #expect(try member("state") == "revoked")
      #expect(!browser.get("/device?name=tablet").text.contains("Change it"))
    }
  }

  // MARK: New devices

  /// Makes a device that asks to join. Returns the fingerprint that the device shows.
  private func ask(_ name: String) throws -> String {
    let made = camp.deviceAnywhere(
      "init", camp.path(name), "--dataset", "camp", "--name", name, "--request", camp.path("\(name).satchel"))
    #expect(made.code == 0, "\(made.error)")
    return try #require(try camp.device(name, "keys", "show", "--json").json["fingerprint"]?.stringValue)
  }

  @Test("a request is enrolled after a person typed its fingerprint, and no page shows the fingerprint before")
  func enrolled() throws {
    let shown = try ask("new")
    let hub = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    let file = (name: "new.satchel", bytes: try camp.read("new.satchel"))
    let fields = ["user": "ann", "name": "", "continues": "", "path": ""]
    func typing(_ words: String) -> [String: String] { fields.merging(["fingerprint": words]) { $1 } }
    try camp.inBrowser { browser throws in
      #expect(browser.get("/enrol").text.contains("Why two people compare a fingerprint"))
      for (words, refusal) in [
        (hub, "the fingerprints differ"), ("abcd", "are not a fingerprint"), ("", "proves that the request"),
      ] {
        let page = browser.post("/enrol", typing(words), file: file)
        #expect(page.status == 409 && page.text.contains(refusal) && !page.text.contains(shown), "\(page)")
      }
      let page = browser.post("/enrol", typing(shown.lowercased()), file: file)
      let group = shown.prefix { $0 != "-" }
      for words in ["The fingerprints agree", ">\(group)</td>", "Rows of ann", "new is enrolled for ann"] {
        #expect(page.text.contains(words), "\(words) in \(page.text)")
      }
      #expect(page.text.utf8.count <= 20_000)
      #expect(camp.hub("device", "show", "new").code == 1)
      // A second form with other values cannot avoid the comparison: the hub compares the fingerprint again.
      let request = ["request": page.hidden("request")]
      let forged = browser.post("/enrol-now", typing(hub).merging(request) { $1 })
      #expect(forged.status == 409 && camp.hub("device", "show", "new").code == 1, "\(forged)")
      let done = browser.post("/enrol-now", typing(shown).merging(request) { $1 })
      #expect(done.text.contains("Enrolled the device new for the user ann") && done.text.contains(hub), "\(done)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("hub/bundles/inbox")).isEmpty)
      let bundle = camp.path("hub/bundles/outbox/camp-hub-new-1.satchel")
      #expect(camp.device("new", "import", bundle, "--fingerprint", hub).code == 0)
    }
  }

  @Test("a request is named by its path, and what cannot be enrolled is refused before the form of the act")
  func enrolledByPath() throws {
    let shown = try ask("new")
    let fields = ["user": "ben", "name": "watch", "path": camp.path("new.satchel"), "fingerprint": shown]
    camp.hub("emit", "--device", "tablet", "--full")
    let bundle = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-")
    try camp.inBrowser { browser throws in
      for (field, value, status, refusal) in [
        ("path", "new.satchel", 400, "written in full"), ("path", "", 400, "no file was chosen"),
        ("path", camp.path("none.satchel"), 409, "there is no such file"),
        ("path", bundle, 409, "not a request for enrolment"),
        ("name", "tablet", 409, "There is a device tablet already"),
        ("user", "nora", 409, "There is no user nora."), ("user", "", 400, "the field user is empty"),
      ] {
        let page = browser.post("/enrol", fields.merging([field: value]) { $1 })
        #expect(page.status == status && page.text.contains(refusal), "\(field) \(value): \(page)")
      }
      let page = browser.post("/enrol", fields)
      #expect(page.text.contains("Enrol the device watch"), "\(page)")
      let form = ["user": "ben", "name": "watch", "fingerprint": shown, "request": page.hidden("request")]
      #expect(browser.post("/enrol-now", form).text.contains("Enrolled the device watch for the user ben"))
      #expect(try member("user", of: "watch") == "ben")
    }
  }

  /// Makes the tablet's request for a new name. Returns it and the fingerprint that the tablet shows.
  private func renew() throws -> (file: (name: String, bytes: [UInt8]), fingerprint: String) {
    let path = camp.path("second.satchel")
    let renewed = camp.device("tablet", "renew", "--name", "second", "--request", path, "--json")
    let shown = try #require(try renewed.json["fingerprint"]?.stringValue)
    return (file: (name: "second.satchel", bytes: try camp.read("second.satchel")), fingerprint: shown)
  }

  @Test("a page says which device a request continues before a fingerprint counts")
  func continued() throws {
    let (file, shown) = try renew()
    let hub = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    let claim =
      "The device says that it was tablet of the user ann, and continues its work. A key of tablet signed that."
    try camp.inBrowser { browser throws in
      var form: [String: String] = [:]
      for typed in ["", hub, shown] {
        let page = browser.post("/enrol", ["user": "ann", "fingerprint": typed], file: file)
        #expect(page.status == 200 && page.text.contains("<p class=\"warning\">\(claim)</p>"), "\(page)")
        #expect(page.text.contains("<input id=\"fingerprint\"") && !page.text.contains(shown))
        #expect(!page.text.contains("The fingerprints agree") && page.text.utf8.count <= 20_000)
        form = ["user": page.hidden("user"), "request": page.hidden("request"), "claim": page.hidden("claim")]
      }
      func post(_ fields: [String: String]) -> Browser.Answer {
        browser.post("/enrol", form.merging(fields) { $1 })
      }
      let other = post(["fingerprint": hub])
      #expect(other.status == 409 && other.text.contains("the fingerprints differ"), "\(other)")
      #expect(!other.text.contains(shown))
      // The form says that the person read another statement than the page's.
      let unread = post(["fingerprint": shown, "claim": "The device is new."])
      #expect(unread.text.contains(claim) && !unread.text.contains("The fingerprints agree"), "\(unread)")
      let agreed = post(["fingerprint": shown])
      #expect(agreed.text.contains("The fingerprints agree") && agreed.text.contains(claim), "\(agreed)")
      #expect(camp.hub("device", "show", "second").code == 1)
      let act = ["user": "ann", "fingerprint": shown, "request": agreed.hidden("request")]
      let done = browser.post("/enrol-now", act)
      #expect(done.text.contains("Enrolled the device second for the user ann"), "\(done)")
    }
  }

  @Test("a request that continues a revoked device needs that device's name, and the page says that no key proves it")
  func continuedRevoked() throws {
    camp.hub("device", "revoke", "tablet")
    let (file, shown) = try renew()
    let fields = ["user": "ann", "fingerprint": shown]
    try camp.inBrowser { browser throws in
      let refused = browser.post("/enrol", fields, file: file)
      #expect(refused.status == 409 && refused.text.contains("no present key of tablet signed that"), "\(refused)")
      let page = browser.post("/enrol", fields.merging(["continues": "tablet"]) { $1 }, file: file)
      for words in ["which was revoked", "any device could claim it", "<input id=\"fingerprint\""] {
        #expect(page.text.contains(words), "\(words) in \(page.text)")
      }
      #expect(page.hidden("continues") == "tablet" && !page.text.contains("The fingerprints agree"))
    }
  }

  @Test("a new device's folder is made after a page that says which rows it gets")
  func provisioned() throws {
    let into = camp.path("watch")
    let address = "/provision?name=watch&user=ann&into=\(percent(into))"
    try camp.inBrowser { browser throws in
      let page = browser.get(address)
      #expect(page.text.contains("will happen") && page.text.contains("Rows of ann"), "\(page)")
      #expect(page.text.contains("The folder holds secret keys"))
      #expect(!FileManager.default.fileExists(atPath: into) && camp.hub("device", "show", "watch").code == 1)
      #expect(browser.get("\(address)&keys=none").text.contains("it only receives"))
      #expect(browser.get("/provision?name=watch&user=ann&into=watch").status == 400)
      let taken = browser.get("/provision?name=tablet&user=ann&into=\(percent(into))")
      #expect(taken.status == 409 && taken.text.contains("There is a device tablet already"), "\(taken)")
      let form = ["name": "watch", "user": "ann", "into": into]
      let done = browser.post("/provision", form)
      #expect(done.text.contains("Made the device watch for the user ann in \(into), with"), "\(done)")
      #expect(try camp.rows("watch/data.sqlite", "SELECT count(*) FROM sites") == "2")
      let again = browser.post("/provision", form)
      #expect(again.status == 409 && again.text.contains("is in use already"), "\(again)")
    }
  }

  private func percent(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }
}
