/// The words of the command line of this process, without the program's name.
///
/// Linux allows any bytes in these words. Swift replaces each byte that is not UTF-8 by U+FFFD, so a path with such
/// bytes would mean another file.
public struct CommandWords: Sendable {
  public let texts: [String]
  /// The first word that is not UTF-8, as Swift shows it; nil if all words are UTF-8.
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
