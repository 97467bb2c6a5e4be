import Foundation
import SatchelPlatform
import Testing

@testable import SatchelCommands

@Suite("The languages of the window")
struct WindowLanguageTests {
  /// The names of the placeholders in each form of a text, for example in its singular and its plural.
  private func places(_ text: String) -> [Set<String>] {
    text.split(separator: "|").map { form in
      let pieces = form.split(separator: "{", omittingEmptySubsequences: false).dropFirst()
      return Set(pieces.map { piece in String(piece.prefix { $0 != "}" }) })
    }
  }

  /// Whether a text has all forms of its language. Each form must have the placeholders of the English text.
  private func isComplete(_ forms: [Set<String>], like english: [Set<String>], _ language: WindowLanguage) -> Bool {
    if english.count == 1 || language.forms == 2 { return forms == english }
    // The forms for one and for two things may write the number as a word, so they may lack the placeholder `n`.
    return forms.count == language.forms && forms.prefix(2).allSatisfy { $0.union(["n"]) == english[0] }
      && forms.dropFirst(2).allSatisfy { $0 == english[0] }
  }

  @Test(
    "each language has every text, with the places and the forms of the English text",
    arguments: WindowLanguage.allCases)
  func complete(language: WindowLanguage) throws {
    for text in WindowText.allCases {
      let english = try #require(WindowLanguage.english.texts[text], "\(text)")
      let other = try #require(language.texts[text], "\(text)")
      #expect(!other.isEmpty && isComplete(places(other), like: places(english), language), "\(text): \(other)")
      #expect(other.count { $0 == "{" } == other.count { $0 == "}" }, "\(other)")
      // If a text has several lines in the table, the space between two lines must not be lost.
      #expect(!other.contains("  ") && !other.contains("\n"), "\(other)")
    }
    #expect(language.texts.count == WindowText.allCases.count)
  }

  @Test("no text is wider than a page of 360 px: no word is long, and names in it are broken")
  func widths() {
    // In a page's title, a letter has about 16 px. A line has 328 px.
    let most = 20
    for language in WindowLanguage.allCases {
      for (text, words) in language.texts {
        let long = words.split { " |{}".contains($0) }.filter { $0.count > most }
        #expect(long.isEmpty, "\(language), \(text): \(long)")
      }
    }
    #expect(StyleSheet.text.text.contains("h1, h2, p, li, dd { overflow-wrap: anywhere; }"))
  }

  @Test("texts of several words are translated")
  func translated() {
    for language in WindowLanguage.allCases where language != .english {
      let same = WindowText.allCases.filter { language.texts[$0] == WindowLanguage.english.texts[$0] }
      // A few texts may be the same as in English, such as `Attention` in French, or `{phase}: {percent} %`.
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

  @Test(
    "Arabic has a form for one, for two, for few and for many things",
    arguments: [
      (0, "قبل 0 يوم"), (1, "قبل يوم واحد"), (2, "قبل يومين"), (3, "قبل 3 أيام"), (10, "قبل 10 أيام"),
      (11, "قبل 11 يومًا"), (99, "قبل 99 يومًا"), (100, "قبل 100 يوم"), (102, "قبل 102 يوم"), (103, "قبل 103 أيام"),
      (211, "قبل 211 يومًا"),
    ] as [(Int64, String)])
  func arabicForms(number: Int64, text: String) {
    #expect(WindowWords(.arabic).count(.daysAgo, number) == text)
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
        let direction = language == .arabic ? " dir=\"rtl\"" : ""
        #expect(page.contains("<html lang=\"\(language.code)\"\(direction)>"), "\(page)")
        // The English reports keep their direction from left to right.
        #expect(page.contains(language == .arabic ? "<details lang=\"en\" dir=\"ltr\">" : "<details lang=\"en\">"))
        #expect(page.contains(words(.everything)) && page.contains("hreflang=\"fr\""), "\(page)")
        #expect(browser.get("/nowhere", language: language.code).text.contains(words(.noPage)))
      }
      let chosen = browser.get("/language?to=es", language: "de")
      #expect(chosen.status == 303 && chosen.header("Location") == "./")
      #expect(browser.get("/", language: "de").text.contains("Todo está en la oficina."))
      #expect(browser.get("/language?to=xx", language: "de").status == 303)
      #expect(browser.get("/", language: "de").text.contains("<html lang=\"es\">"))
      let refused = browser.send("GET", outside: "/", cookie: nil, more: ["Accept-Language: ar"])
      #expect(refused.status == 403 && refused.text.contains("<html lang=\"ar\" dir=\"rtl\">"), "\(refused)")
    }
  }

  @Test("the command line may name the language of the window")
  func option() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.inWindow(options: ["--language", "ar"]) { browser throws in
      #expect(browser.get("/", language: "de").text.contains("كل شيء موجود في المكتب."))
    }
    #expect(camp.device("tablet", "window", "--language", "xx").code == 2)
  }
}
