import TestSupport
import Testing

@testable import SatchelCrypto

private let phrase = "neun Äpfel am Fluss".bytes

/// Runs a tool that asks for passwords. Answers each question with this password.
private func answering(_ password: [UInt8], _ command: [String], in folder: TemporaryFolder) throws -> ToolResult {
  try folder.write(password, to: "answer")
  let script = """
    import os, pty, sys
    answer = open("answer", "rb").read() + b"\\n"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    seen = b""
    while True:
        try:
            more = os.read(terminal, 1024)
        except OSError:
            break
        if not more:
            break
        seen += more
        if seen.rstrip().endswith(b":"):
            os.write(terminal, answer)
            seen = b""
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """
  return try StockTool.python3.run(["-c", script] + command, in: folder.path)
}

private func password() throws -> Password { try #require(Password(phrase)) }

private func random() -> (Int) -> [UInt8] {
  var generator = SplitMix64(seed: 7)
  return { count in (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 20) } }
}

@Test("a secret key behind a password is the same key, and no other password opens it")
func protectedKey() throws {
  let key = try testKey()
  let publicKey = key.publicKey
  let file = try key.fileBytes(comment: "x", protection: (try password(), [UInt8](repeating: 5, count: 32)))
  #expect(SigningKey.isProtected(fileBytes: file))
  #expect(try !SigningKey.isProtected(fileBytes: key.fileBytes(comment: "x")))
  let opened = try SigningKey(fileBytes: file, password: password())
  let half = opened.publicKey
  #expect(half == publicKey)
  #expect(throws: KeyError.passwordProtected) { _ = try SigningKey(fileBytes: file) }
  let other = try #require(Password("neun apfel".bytes))
  #expect(throws: KeyError.wrongPassword) { _ = try SigningKey(fileBytes: file, password: other) }
  #expect(Password([]) == nil)
}

@Test("a password that needs more memory than any machine has is reported, and kills no process")
func costlyPassword() throws {
  let derived = try password().scrypt(salt: [1], cost: 1 << 52, blockSize: 8, parallelization: 1, count: 32)
  let isRefused = derived == nil
  #expect(isRefused)
}

@Test("minisign signs with a key that Satchel put behind a password, and Satchel with a key that minisign made")
func minisignPasswords() throws {
  let folder = try TemporaryFolder()
  let key = try testKey()
  try folder.write(key.fileBytes(comment: "x", protection: (try password(), random()(32))), to: "ours.key")
  try folder.write(key.publicKey.fileBytes(comment: "x"), to: "ours.pub")
  try folder.write("hello".bytes, to: "m")
  let signed = try answering(phrase, ["minisign", "-S", "-s", "ours.key", "-m", "m"], in: folder)
  #expect(signed.status == 0, "\(signed.text)\(signed.complaint)")
  try StockTool.minisign("-V", "-p", "ours.pub", "-m", "m", in: folder.path)

  let made = try answering(phrase, ["minisign", "-G", "-s", "theirs.key", "-p", "theirs.pub"], in: folder)
  #expect(made.status == 0, "\(made.text)\(made.complaint)")
  let theirs = try SigningKey(fileBytes: folder.read("theirs.key"), password: password())
  let half = theirs.publicKey
  #expect(try half == PublicKey(fileBytes: folder.read("theirs.pub")))
}

@Test(
  "age opens what we encrypt, for a recipient and behind a password, and we open what it encrypts",
  arguments: [0, 5, 65_536, 200_000])
func ageBothWays(size: Int) throws {
  let folder = try TemporaryFolder()
  let random = random()
  let identity = AgeIdentity(seed: random(32))
  let escrow = AgeIdentity(seed: random(32))
  let message = random(size)
  try folder.write("# an identity\n\(identity.text)\n".bytes, to: "identity")
  try folder.write(message, to: "m")

  func sealed(_ sealer: consuming AgeSealer) -> [UInt8] {
    var sealer = sealer
    return sealer.beginning + sealer.seal(message[..<(size / 3)]) + sealer.seal(message[(size / 3)...])
      + sealer.finish()
  }
  func opened(_ bytes: [UInt8], _ key: AgeOpener.Key) throws -> [UInt8] {
    var opener = AgeOpener(key)
    return try opener.open(bytes) + opener.finish()
  }
  let forBoth = try sealed(AgeSealer(for: [escrow.recipient, identity.recipient], random: random))
  try folder.write(forBoth, to: "ours.age")
  #expect(try StockTool.age("-d", "-i", "identity", "ours.age", in: folder.path).output == message)
  #expect(try opened(forBoth, .identities([escrow])) == message)
  #expect(throws: AgeError.noMatch) { _ = try opened(forBoth, .identities([AgeIdentity(seed: random(32))])) }
  #expect(throws: AgeError.contentChanged) { _ = try opened(forBoth.dropLast(), .identities([identity])) }

  try StockTool.age(
    "-r", identity.recipient.text, "-r", escrow.recipient.text, "-o", "theirs.age", "m", in: folder.path)
  let read = try AgeIdentity.identities(fileBytes: folder.read("identity"))
  #expect(try opened(folder.read("theirs.age"), .identities(read)) == message)

  try folder.write(sealed(AgeSealer(password: password(), random: random)), to: "password.age")
  let told = try answering(phrase, ["age", "-d", "-o", "told", "password.age"], in: folder)
  #expect(told.status == 0, "\(told.text)\(told.complaint)")
  // If the content is empty, age writes no output file.
  if size > 0 { #expect(try folder.read("told") == message) }
  #expect(throws: AgeError.wrongPassword) {
    _ = try opened(folder.read("password.age"), .password(#require(Password([1]))))
  }
}

@Test("age's keys are read as age-keygen writes them, and nothing else is")
func ageKeys() throws {
  let identity = AgeIdentity(seed: (0..<32).map { $0 })
  #expect(identity.text.hasPrefix("AGE-SECRET-KEY-1") && identity.recipient.text.hasPrefix("age1"))
  #expect(try AgeIdentity(identity.text).recipient == identity.recipient)
  #expect(AgeRecipient(identity.recipient.text) == identity.recipient)
  for text in [identity.recipient.text + "q", identity.recipient.text.uppercased(), "age1", "", "age1qqqq"] {
    #expect(AgeRecipient(text) == nil)
  }
  for text in [identity.text.lowercased(), String(identity.text.dropLast()), "AGE-SECRET-KEY-1"] {
    #expect(throws: AgeError.unfitKey) { _ = try AgeIdentity(text) }
  }
  #expect(throws: AgeError.unfitKey) { _ = try AgeIdentity.identities(fileBytes: "# nothing\n".bytes) }
  #expect(throws: AgeError.unfitKey) { _ = try AgeIdentity.identities(fileBytes: "\(identity.text)\nother\n".bytes) }
  let errors: [AgeError] = [
    .notAge, .malformed("x"), .noMatch, .headerChanged, .contentChanged, .wrongPassword, .unfitKey, .noMemory,
  ]
  #expect(Set(errors.map(\.code.rawValue)).count == errors.count)
}
