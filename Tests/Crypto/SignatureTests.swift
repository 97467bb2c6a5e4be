import SatchelCrypto
import Testing

private let message = "twenty bytes or so\n".bytes

private func signed() throws -> (key: PublicKey, signature: Signature) {
  let key = try testKey()
  return (key.publicKey, try key.sign(message: message, trustedComment: "trusted", untrustedComment: "untrusted"))
}

private func isAccepted(_ file: [UInt8], by key: PublicKey, for message: [UInt8]) -> Bool {
  guard let signature = try? Signature(fileBytes: file) else { return false }
  return (try? key.verify(signature, message: message)) != nil
}

@Test("every change of one byte after the untrusted comment is refused")
func flippedFile() throws {
  let (key, signature) = try signed()
  let file = signature.fileBytes
  let firstLine = try #require(file.firstIndex(of: 0x0a))
  #expect(isAccepted(file, by: key, for: message))
  for i in firstLine..<file.count {
    for change in 1...UInt8.max {
      var bent = file
      bent[i] ^= change
      if isAccepted(bent, by: key, for: message) { Issue.record("byte \(i) with \(change)") }
    }
    if isAccepted(Array(file[..<i]), by: key, for: message) { Issue.record("cut at \(i)") }
  }
}

@Test("every flipped bit in the message is refused")
func flippedMessage() throws {
  let (key, signature) = try signed()
  #expect(try key.verify(signature, digest: .of(message)) == "trusted")
  for i in message.indices {
    for bit in 0..<8 {
      var bent = message
      bent[i] ^= 1 << bit
      #expect(throws: SignatureError.wrongMessage) { try key.verify(signature, message: bent) }
    }
  }
  #expect(throws: SignatureError.wrongMessage) { try key.verify(signature, message: message + [0]) }
}

@Test("a signature names its key, and a signature of another key is refused")
func otherKey() throws {
  let (key, signature) = try signed()
  let other = try testKey(2).publicKey
  #expect(signature.keyID == key.id)
  #expect(throws: SignatureError.otherKey(signed: key.id, expected: other.id)) {
    try other.verify(signature, message: message)
  }
  let impostor = try #require(PublicKey(id: key.id, bytes: other.bytes))
  #expect(throws: SignatureError.wrongMessage) { try impostor.verify(signature, message: message) }
}

@Test("a trusted comment cannot be exchanged for that of another signature")
func exchangedComment() throws {
  let key = try testKey()
  let publicKey = key.publicKey
  let one = try key.sign(message: message, trustedComment: "one", untrustedComment: "")
  let two = try key.sign(message: [1], trustedComment: "two", untrustedComment: "")
  let lines = { (s: Signature) in
    String(decoding: s.fileBytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
  }
  let mixed = (lines(one)[..<2] + lines(two)[2...]).joined(separator: "\n").bytes
  let signature = try Signature(fileBytes: mixed)
  #expect(signature.unverifiedTrustedComment == "two")
  #expect(throws: SignatureError.wrongComment) { try publicKey.verify(signature, message: message) }
}

@Test("a file that is not exactly a signature is refused before any key is asked")
func malformed() throws {
  let file = String(decoding: try signed().signature.fileBytes, as: UTF8.self)
  let others = [
    "", "\n\n\n\n", file + "\n", file + file, "\n" + file, String(file.dropLast()), file.replacing("\n", with: "\r\n"),
    file.replacing("untrusted comment: ", with: "comment: "),
    file.replacing("\ntrusted comment:", with: "\nTrusted comment:"),
    file.replacing(": untrusted", with: ": un\u{1b}[2Jtrusted"), file.replacing(": trusted", with: ": tru\u{0}sted"),
    file.replacing("==\n", with: "\n"), file.replacing("==\n", with: "== \n"),
  ]
  for other in others {
    #expect(throws: SignatureError.malformed, "\(other)") { try Signature(fileBytes: other.bytes) }
  }
  #expect(throws: SignatureError.malformed) {
    try Signature(fileBytes: file.replacing(": untrusted", with: ": @").bytes.map { $0 == 0x40 ? 0xff : $0 })
  }
  #expect(throws: SignatureError.tooLarge) { try Signature(fileBytes: [UInt8](repeating: 0x0a, count: 2049)) }
}

@Test("comments that would not stay on their line are refused when signing")
func unfitComments() throws {
  let key = try testKey()
  for comment in ["two\nlines", "return\r", "\u{0}", "escape \u{1b}[2J", "\u{85}", String(repeating: "x", count: 2000)]
  {
    let trusted = Result { try key.sign(message: [], trustedComment: comment, untrustedComment: "") }
    let untrusted = Result { try key.sign(message: [], trustedComment: "", untrustedComment: comment) }
    let publicFile = Result { try key.publicKey.fileBytes(comment: comment) }
    let secretFile = Result { try key.fileBytes(comment: comment) }
    #expect(throws: SignatureError.unfitComment) { try trusted.get() }
    #expect(throws: SignatureError.unfitComment) { try untrusted.get() }
    #expect(throws: KeyError.unfitComment) { try publicFile.get() }
    #expect(throws: KeyError.unfitComment) { try secretFile.get() }
  }
  let empty = try key.sign(message: [], trustedComment: "", untrustedComment: "")
  #expect(try Signature(fileBytes: empty.fileBytes) == empty)
}
