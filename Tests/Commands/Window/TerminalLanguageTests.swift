import Foundation
import SatchelPlatform
import Testing

@testable import SatchelCommands

/// `status` and `sync` print their texts in the person's language.
@Suite("Languages on the terminal")
struct TerminalLanguageTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  /// Runs the device's tool with these environment variables.
  private func device(_ variables: [String: String], _ words: String...) -> CommandLineFixture.Outcome {
    let console = CollectingConsole(environment: variables)
    let code = runDeviceTool(["-C", camp.path("tablet")] + words, platform: camp.platform, console: console)
    return CommandLineFixture.Outcome(
      code: code, out: console.outText, error: console.errorText, transcript: console.transcript)
  }

  private func change() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
  }

  private static let french = ["LANG": "fr_FR.UTF-8"]

  @Test("status is in each language, and leads to the facts in English", arguments: WindowLanguage.allCases)
  func status(language: WindowLanguage) throws {
    try change()
    let outcome = device([:], "status", "--language", language.code)
    let words = WindowWords(language)
    #expect(outcome.code == 0 && outcome.error.isEmpty, "\(outcome)")
    if language == .english {
      #expect(outcome.out.contains("Not delivered"), "\(outcome)")
    } else {
      for text in [words(.waits), words.count(.changesToCarry, 1), words(.lastNews), "satchel status --language en"] {
        #expect(outcome.out.contains(text), "\(text) in \(outcome)")
      }
      #expect(!outcome.out.contains("Not delivered"), "\(outcome)")
    }
  }

  @Test("the option comes before the environment, and LC_ALL before LANG; unknown locales are English")
  func locale() throws {
    #expect(device(Self.french, "status").out.contains("Tout est au bureau."))
    #expect(device(["LANG": "ar"], "status").out.contains("كل شيء موجود في المكتب."))
    #expect(device(Self.french, "status", "--language", "es").out.contains("Todo está en la oficina."))
    for variables in [["LANG": "fr", "LC_ALL": "C.UTF-8"], ["LANG": "sw_KE"], ["LANG": "POSIX"], ["LANG": ""]] {
      #expect(device(variables, "status").out.contains("nothing: the hub has everything"), "\(variables)")
    }
    #expect(device(["LANG": "de", "LC_ALL": "", "LC_MESSAGES": "pt_BR"], "status").out.contains("escritório"))
  }

  @Test("documents for programs are the same in all languages")
  func json() throws {
    let outcome = device(Self.french, "status", "--json")
    #expect(try outcome.json["state"]?.stringValue == "current" && !outcome.out.contains("bureau"), "\(outcome)")
    try camp.makeFolder("stick")
    let synced = device(Self.french, "sync", "--json", camp.path("stick"))
    #expect(try synced.json["ok"]?.boolValue == true && !synced.out.contains("bureau"), "\(synced)")
  }

  @Test("sync and watch end in the language of the person, after the report in English")
  func sync() throws {
    try change()
    try camp.makeFolder("media/one/SATCHEL")
    let synced = device(Self.french, "sync", camp.path("media/one"))
    #expect(synced.code == 0 && synced.out.contains("For hub: bundle 1"), "\(synced)")
    #expect(synced.out.contains("\nSynchronisé avec la clé one\n") && !synced.out.contains("Done:"), "\(synced)")
    let last = "Votre travail est sur la clé. Portez-la au bureau.\nElle porte 1 de vos changements.\n"
    #expect(synced.out.hasSuffix(last), "\(synced)")
    let watched = device(Self.french, "watch", "--once", camp.path("media"))
    #expect(watched.out.contains("Votre travail était déjà sur la clé."), "\(watched)")
    let quiet = device(Self.french, "sync", "--quiet", camp.path("media/one"))
    #expect(quiet.code == 0 && quiet.transcript.isEmpty, "\(quiet)")
  }

  @Test("a stick that was plugged in is said to be removable only after all was done, and a failure says what to do")
  func stick() throws {
    try change()
    try camp.plug(["blue"])
    let synced = device(Self.french, "sync")
    #expect(synced.out.hasSuffix("Vous pouvez retirer la clé blue.\n"), "\(synced)")
    try camp.mount([])
    let failed = device(Self.french, "sync")
    #expect(failed.code == 1 && failed.error.contains("La clé n’est pas branchée, ou pas ouverte."), "\(failed)")
    #expect(failed.error.contains("No stick is plugged in") && !failed.transcript.contains("retirer"), "\(failed)")
  }

  @Test("a workspace that cannot be opened is reported in the language of the person too")
  func failure() throws {
    try camp.remove("tablet/satchel.json")
    let outcome = device(Self.french, "status")
    #expect(outcome.code == 1 && outcome.error.contains("Satchel ne peut pas lire l’état"), "\(outcome)")
  }

  @Test("an unknown language is refused before anything is done")
  func unknown() throws {
    try change()
    try camp.makeFolder("stick")
    let outcome = device([:], "sync", "--language", "xx", camp.path("stick"))
    #expect(outcome.code == 2 && outcome.error.contains("--language takes one of en, fr"), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: camp.path("stick/SATCHEL")))
    #expect(device([:], "status", "--language", "xx").code == 2)
    #expect(device([:], "watch", "--once", "--language", "xx", camp.path("stick")).code == 2)
  }
}
