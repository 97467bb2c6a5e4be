import Foundation
import SatchelPlatform
import Testing

@testable import SatchelCommands

@Suite("The languages of the window")
struct WindowLanguageTests {
  /// The names of the places in each form of a text.
  private func places(_ text: String) -> [Set<String>] {
    text.split(separator: "|").map { form in
      let pieces = form.split(separator: "{", omittingEmptySubsequences: false).dropFirst()
      return Set(pieces.map { piece in String(piece.prefix { $0 != "}" }) })
    }
  }

  @Test(
    "each language has every text, with the places and the forms of the English text",
    arguments: WindowLanguage.allCases)
  func complete(language: WindowLanguage) throws {
    for text in WindowText.allCases {
      let english = try #require(WindowLanguage.english.texts[text], "\(text)")
      let other = try #require(language.texts[text], "\(text)")
      #expect(!other.isEmpty && places(other) == places(english), "\(text): \(other)")
      #expect(other.count { $0 == "{" } == other.count { $0 == "}" }, "\(other)")
      // A text of several lines in the table must not have lost the space between two of them.
      #expect(!other.contains("  ") && !other.contains("\n"), "\(other)")
    }
    #expect(language.texts.count == WindowText.allCases.count)
  }

  @Test("texts of several words are translated")
  func translated() {
    for language in WindowLanguage.allCases where language != .english {
      let same = WindowText.allCases.filter { language.texts[$0] == WindowLanguage.english.texts[$0] }
      // Such as `Attention` in French, and `{phase}: {percent} %`.
      #expect(same.count <= 4, "\(language): \(same)")
    }
  }

  @Test(
    "the browser's languages are read by their weights",
    arguments: [
      ("fr-CH, fr;q=0.9, en;q=0.8, *;q=0.5", "fr"), ("en;q=0.4, de-AT;q=0.5", "de"), ("ja, es;q=0.1", "es"),
      ("pt-BR", "pt"), ("ES", "es"), ("fr;q=0, de;q=0.001", "de"), ("de;q=nan, fr;q=2, es;q=0.3", "es"), ("", "en"),
      ("*", "en"), (";;,q=1,-", "en"),
    ])
  func preferred(header: String, code: String) {
    #expect(WindowLanguage.preferred(header).code == code)
  }

  @Test("a browser without the header gets English")
  func noHeader() { #expect(WindowLanguage.preferred(nil) == .english) }

  @Test("numbers have the form that the language uses")
  func forms() {
    #expect(WindowWords(.english).count(.daysAgo, 0) == "0 days ago")
    #expect(WindowWords(.english).count(.daysAgo, 1) == "1 day ago")
    #expect(WindowWords(.french).count(.daysAgo, 0) == "il y a 0 jour")
    #expect(WindowWords(.french).count(.daysAgo, 2) == "il y a 2 jours")
    #expect(WindowWords(.german).count(.daysAgo, 1) == "vor 1 Tag")
  }

  @Test("values are put into their places as they are, whatever characters they have")
  func values() {
    let words = WindowWords(.english)
    #expect(words(.safe, ["name": "{name} | }{"]) == "You can remove the stick {name} | }{.")
    #expect(words(.percent, ["phase": "Reading", "percent": "5"]) == "Reading: 5 %")
  }

  @Test("each page is in the browser's language, and a link changes it for the session")
  func pages() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.inWindow { browser throws in
      for language in WindowLanguage.allCases {
        let words = WindowWords(language)
        let page = browser.get("/", language: "\(language.code)-XX, ja;q=0.9").text
        #expect(page.contains("<html lang=\"\(language.code)\">"), "\(page)")
        #expect(page.contains(words(.everything)) && page.contains("hreflang=\"fr\""), "\(page)")
        #expect(browser.get("/nowhere", language: language.code).text.contains(words(.noPage)))
      }
      let chosen = browser.get("/language?to=es", language: "de")
      #expect(chosen.status == 303 && chosen.header("Location") == "./")
      #expect(browser.get("/", language: "de").text.contains("Todo está en la oficina."))
      #expect(browser.get("/language?to=xx", language: "de").status == 303)
      #expect(browser.get("/", language: "de").text.contains("<html lang=\"es\">"))
    }
  }
}
