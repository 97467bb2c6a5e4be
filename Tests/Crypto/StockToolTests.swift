import SatchelCrypto
import Testing

private let messages: [[UInt8]] = [[], "hello\n".bytes, (0..<70_000).map { UInt8(truncatingIfNeeded: $0) }]

@Test("minisign verifies what we sign", arguments: messages)
func theyVerifyOurs(message: [UInt8]) throws {
  let scratch = try Scratch()
  let key = try testKey()
  let signature = try key.sign(message: message, trustedComment: "bundle 7\tnaïve é", untrustedComment: "from a device")
  let publicFile = try key.publicKey.fileBytes(comment: "a device")
  try scratch.write(message, to: "m")
  try scratch.write(signature.fileBytes, to: "m.minisig")
  try scratch.write(publicFile, to: "k.pub")

  let byFile = try scratch.minisign("-V", "-H", "-p", "k.pub", "-m", "m")
  #expect(byFile.status == 0, "\(byFile.output)")
  #expect(byFile.output.contains("Trusted comment: bundle 7\tnaïve é"))
  let byLine = try scratch.minisign("-V", "-P", key.publicKey.line, "-m", "m")
  #expect(byLine.status == 0, "\(byLine.output)")

  try scratch.write(message + [1], to: "m")
  #expect(try scratch.minisign("-V", "-p", "k.pub", "-m", "m").status != 0)
}

@Test("we verify what minisign signs with its own key, and read both halves of the key", arguments: messages)
func weVerifyTheirs(message: [UInt8]) throws {
  let scratch = try Scratch()
  try scratch.write(message, to: "m")
  let generated = try scratch.minisign("-G", "-W", "-f", "-p", "k.pub", "-s", "k.key")
  #expect(generated.status == 0, "\(generated.output)")
  let signed = try scratch.minisign("-S", "-s", "k.key", "-t", "trust me\tfully", "-m", "m")
  #expect(signed.status == 0, "\(signed.output)")

  let publicKey = try PublicKey(fileBytes: scratch.read("k.pub"))
  #expect(generated.output.contains(publicKey.line))
  let signature = try Signature(fileBytes: scratch.read("m.minisig"))
  #expect(try publicKey.verify(signature, message: message) == "trust me\tfully")

  let key = try SigningKey(fileBytes: scratch.read("k.key"))
  let half = key.publicKey
  #expect(half == publicKey)
  let ours = try key.sign(
    message: message, trustedComment: "trust me\tfully", untrustedComment: "signature from minisign secret key")
  #expect(ours == signature, "Ed25519 is deterministic: the same key makes the same file")
  try scratch.write(ours.fileBytes, to: "m.minisig")
  #expect(try scratch.minisign("-V", "-p", "k.pub", "-m", "m").status == 0)
}

@Test("minisign's default comment passes our reader")
func defaultComment() throws {
  let scratch = try Scratch()
  try scratch.write([1], to: "m")
  try scratch.minisign("-G", "-W", "-p", "k.pub", "-s", "k.key")
  try scratch.minisign("-S", "-s", "k.key", "-m", "m")
  let publicKey = try PublicKey(fileBytes: scratch.read("k.pub"))
  let signature = try Signature(fileBytes: scratch.read("m.minisig"))
  #expect(try publicKey.verify(signature, message: [1]).contains("file:m"))
  let publicFile = String(decoding: try scratch.read("k.pub"), as: UTF8.self)
  let number = publicKey.id.description.drop { $0 == "0" }
  #expect(publicFile.contains(number), "we print a key's id as minisign does")
}

@Test("minisign signs with a key that we wrote")
func theySignWithOurs() throws {
  let scratch = try Scratch()
  let key = try testKey()
  let secretFile = try key.fileBytes(comment: "a device's key")
  try scratch.write(secretFile, to: "k.key")
  try scratch.write([7], to: "m")
  let signed = try scratch.minisign("-S", "-s", "k.key", "-m", "m")
  #expect(signed.status == 0, "\(signed.output)")
  let signature = try Signature(fileBytes: scratch.read("m.minisig"))
  let publicKey = key.publicKey
  try publicKey.verify(signature, message: [7])

  let recreated = try scratch.minisign("-R", "-p", "k.pub", "-s", "k.key")
  #expect(recreated.status == 0, "\(recreated.output)")
  #expect(try PublicKey(fileBytes: scratch.read("k.pub")) == publicKey)
  let again = try SigningKey(fileBytes: secretFile)
  let half = again.publicKey
  #expect(half == publicKey)
}

@Test("minisign's old kind of signature is named as such")
func legacy() throws {
  let scratch = try Scratch()
  try scratch.write([1], to: "m")
  try scratch.minisign("-G", "-W", "-p", "k.pub", "-s", "k.key")
  try scratch.minisign("-S", "-l", "-s", "k.key", "-m", "m")
  let file = try scratch.read("m.minisig")
  #expect(throws: SignatureError.legacy) { try Signature(fileBytes: file) }
}
