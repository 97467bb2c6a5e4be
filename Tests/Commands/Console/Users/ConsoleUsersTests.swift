import Foundation
import SatchelPlatform
import TestSupport
import Testing

@Suite("The console's pages about users", .serialized)
struct ConsoleUsersTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  @Test("the list has attributes and devices, and every name is shown as text")
  func list() throws {
    camp.hub("user", "add", "<b>x</b>")
    try camp.inBrowser { browser throws in
      let page = browser.get("/users").text
      for words in ["href=\"user?name=ann\"", "tier=1", ">tablet<", "&lt;b&gt;x&lt;/b&gt;", "3 users, page 1 of 1"] {
        #expect(page.contains(words), "\(words) in \(page)")
      }
      #expect(!page.contains("<b>x"))
      #expect(browser.get("/user?name=%3Cb%3Ex%3C%2Fb%3E").text.contains("User &lt;b&gt;x"))
      let found = browser.get("/users?text=tier%3D2").text
      #expect(found.contains("user?name=ben") && !found.contains("user?name=ann"))
      let ann = browser.get("/user?name=ann").text
      #expect(ann.contains("device?name=tablet") && ann.contains("scopes?user=ann"), "\(ann)")
      #expect(browser.get("/user?name=nora").text.contains("There is no user nora."))
    }
  }

  @Test("a user is added after a page that shows the attributes, and refusals have the words of the command")
  func added() throws {
    try camp.inBrowser { browser throws in
      let page = browser.get("/user-add?name=cleo&attribute.tier=2").text
      #expect(page.contains("The user cleo is added, with tier=2"), "\(page)")
      #expect(!camp.hub("user", "list").out.contains("cleo"))
      for (query, words) in [
        ("name=cleo&attribute.tier=x", "must be of the type integer"), ("name=ann", "There is a user ann already."),
      ] {
        let refused = browser.get("/user-add?\(query)")
        #expect(refused.status == 409 && refused.text.contains(words), "\(query): \(refused)")
      }
      let form = ["name": "cleo", "attribute.tier": "2"]
      #expect(browser.post("/user-add", form, origin: nil).status == 403)
      #expect(browser.post("/user-add", form).header("Location") == "user?name=cleo&done=1")
      #expect(camp.hub("user", "list").out.contains("cleo"))
    }
  }

  @Test("attributes are changed after a page that says which rows are given and taken, and only if that is still so")
  func changed() throws {
    try camp.inBrowser { browser throws in
      let page = browser.get("/user-set?name=ann&attribute.tier=2&expires=2099-12-31")
      for words in ["tier becomes 2 in place of 1", "Rows given", "2099-12-31 is the last day", ">tablet<"] {
        #expect(page.text.contains(words), "\(words) in \(page.text)")
      }
      #expect(browser.get("/user-set?name=ann&attribute.tier=1").text.contains("nothing to change"))
      try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('bay', 'Bay', 2)")
      let form = ["name": "ann", "attribute.tier": "2", "expires": "2099-12-31"]
      let stale = browser.post("/user-set", form.merging(["seen": page.setMark]) { $1 })
      #expect(stale.status == 409 && stale.text.contains("Nothing was changed"), "\(stale)")
      #expect(!camp.hub("user", "list").out.contains("2099"))
      let done = browser.post("/user-set", form.merging(["seen": stale.setMark]) { $1 })
      #expect(done.status == 303, "\(done)")
      let ann = browser.get("/user?name=ann&done=1").text
      #expect(ann.contains("tier=2") && ann.contains("2099-12-31") && ann.contains("No last day ..."), "\(ann)")
    }
  }
}
