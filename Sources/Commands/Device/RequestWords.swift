import SatchelCrypto

/// Instructions for a person after a command has written a request for a hub.
struct RequestWords {
  let request: String
  let key: PublicKey
  /// The hub for which the request is: `hub`, or `new hub`.
  var hub = "hub"
  /// The key's owner and kind, such as `its new key`.
  let whose: String
  /// The next step after the hub has enrolled the device: a sentence.
  let next: String

  var text: TerminalText {
    """
    The request is in \(request): carry it to the \(hub).

    The fingerprint of \(whose) is

        \(key.fingerprint)

    The \(hub)'s operator types it there, as you read it out: satchel-hub device enrol FILE --user USER
    \(next)

    """
  }

  /// The text and, for a person at a screen, a picture of the fingerprint.
  func text(pictureFor context: CommandContext) -> TerminalText {
    let traits = context.console.traits
    return text + (traits.showsOutput ? KeyCommands.picture(key, colour: traits.colour) : "")
  }
}
