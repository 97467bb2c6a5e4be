/// The words of this process's command line, without the program's own name.
///
/// Linux allows any bytes in them. Swift puts U+FFFD in the place of each byte that is not UTF-8, so a path would name
/// another file.
public struct CommandWords: Sendable {
  public let texts: [String]
  /// The first word that is not UTF-8, as Swift shows it. nil: all words are UTF-8.
  public let notText: String?

  public init() {
    let texts = CommandLine.arguments
    let words = unsafe CommandLine.unsafeArgv
    let wrong = texts.indices.dropFirst().first { place in
      unsafe words[place].map { unsafe String(validatingCString: $0) == nil } ?? false
    }
    notText = wrong.map { texts[$0] }
    self.texts = Array(texts.dropFirst())
  }
}
