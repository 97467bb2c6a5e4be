import SatchelCrypto
import Testing

@Test("a seed has one key")
func seeds() throws {
  // The first test vector of RFC 8032, section 7.1.
  let seed: [UInt8] = [
    0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49, 0xc5,
    0x69, 0x7b,
    0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
  ]
  let id = try #require(KeyID(bytes: [1, 2, 3, 4, 5, 6, 7, 0xef]))
  let key = SigningKey.generate(seed: seed, keyID: id).publicKey
  #expect(key.bytes.starts(with: [0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7]))
  #expect(key.id.description == "EF07060504030201")
  #expect(KeyID(bytes: [1]) == nil)
  #expect(PublicKey(id: id, bytes: [1]) == nil)
}

@Test("a public key's line has one spelling")
func lines() throws {
  let key = try testKey().publicKey
  #expect(PublicKey(line: key.line) == key)
  for other in [
    "", key.line + "\n", " " + key.line, String(key.line.dropLast()), "A" + key.line.dropFirst(), key.line + "AAAA",
  ] {
    #expect(PublicKey(line: other) == nil)
  }
}

@Test("a public key's file may have been through an editor")
func publicFiles() throws {
  let key = try testKey().publicKey
  let file = String(decoding: try key.fileBytes(comment: "a hub"), as: UTF8.self)
  #expect(file == "untrusted comment: a hub\n\(key.line)\n")
  for edited in [file, String(file.dropLast()), file.replacing("\n", with: "\r\n")] {
    #expect(try PublicKey(fileBytes: edited.bytes) == key)
  }
  for other in ["", key.line, file + key.line, file.replacing("untrusted", with: "trusted"), "\n" + file, file + "\n"] {
    #expect(throws: KeyError.malformed, "\(other)") { try PublicKey(fileBytes: other.bytes) }
  }
  #expect(throws: KeyError.tooLarge) { try PublicKey(fileBytes: [UInt8](repeating: 0x20, count: 3000)) }
}

@Test("a changed secret key is refused")
func bentSecret() throws {
  let file = try testKey().fileBytes(comment: "x")
  let start = try #require(file.firstIndex(of: 0x0a)) + 1
  // Bytes 6 to 53 are the salt and the limits, which are unused here. In base64 they are the letters 8 to 71.
  for i in (start..<file.count - 1) where !(start + 8..<start + 72).contains(i) {
    for change: UInt8 in [1, 2, 4, 0x20] {
      var bent = file
      bent[i] ^= change
      #expect(throws: KeyError.self) { _ = try SigningKey(fileBytes: bent) }
    }
  }
  #expect(throws: KeyError.tooLarge) { _ = try SigningKey(fileBytes: file + [UInt8](repeating: 0x20, count: 3000)) }
}

@Test("a key with a password is named as such")
func passwordProtected() throws {
  let file = try testKey().fileBytes(comment: "x")
  let text = String(decoding: file, as: UTF8.self)
  // Base64 of "Ed", two zeros and "B2". In the other text "Sc" takes the place of the zeros.
  let protected = text.replacing("RWQAAEIy", with: "RWRTY0Iy")
  #expect(protected != text)
  #expect(throws: KeyError.passwordProtected) { _ = try SigningKey(fileBytes: protected.bytes) }
}

@Test("every error has its own word and a sentence")
func words() throws {
  let keyErrors: [KeyError] = [
    .tooLarge, .malformed, .passwordProtected, .wrongPassword, .damaged, .unfitComment, .noMemory,
  ]
  let id = try testKey().publicKey.id
  let signatureErrors: [SignatureError] = [
    .tooLarge, .malformed, .legacy, .otherKey(signed: id, expected: id), .wrongMessage, .wrongComment, .unfitComment,
  ]
  let reasons = keyErrors.map(\.code.rawValue) + signatureErrors.map(\.code.rawValue)
  #expect(Set(reasons).count == reasons.count)
  #expect((keyErrors.map(\.message) + signatureErrors.map(\.message)).allSatisfy { $0.count > 20 })
}
