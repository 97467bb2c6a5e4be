import SatchelCrypto
import Testing

private let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

@Test("a fingerprint has eight groups of four and one of two, and depends on the key alone")
func shape() throws {
  let key = try testKey().publicKey
  let groups = key.fingerprint.split(separator: "-").map(\.count)
  #expect(groups == [4, 4, 4, 4, 4, 4, 4, 4, 2])
  #expect(key.fingerprint.allSatisfy { $0 == "-" || alphabet.contains($0) })
  let renamed = try #require(PublicKey(id: testKey(2).publicKey.id, bytes: key.bytes))
  #expect(renamed.fingerprint == key.fingerprint)
  #expect(try testKey(2).publicKey.fingerprint != key.fingerprint)
}

@Test("a fingerprint is BLAKE2b-160 in base32, and its check is that number modulo 1021")
func definition() throws {
  let key = try testKey().publicKey
  let bits = blake2b(key.bytes, length: 20).map { byte in
    let digits = String(byte, radix: 2)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }.joined()
  var remainder = 0
  for bit in bits { remainder = (remainder * 2 + (bit == "1" ? 1 : 0)) % 1021 }
  let symbols = stride(from: 0, to: 160, by: 5).compactMap { start in
    Int(bits.dropFirst(start).prefix(5), radix: 2).map { alphabet[$0] }
  }
  let expected = String(symbols) + String([alphabet[remainder / 32], alphabet[remainder % 32]])
  #expect(key.fingerprint.filter { $0 != "-" } == expected)
}

@Test("usual variations of a typed fingerprint are accepted")
func forgiven() throws {
  for number in UInt8(0)..<40 {
    let print = try testKey(number).publicKey.fingerprint
    let typed = [
      print, print.lowercased(), print.replacing("-", with: ""), print.replacing("-", with: " "), "  \(print)\n",
      print.replacing("0", with: "O"), print.replacing("0", with: "o"), print.replacing("1", with: "I"),
      print.replacing("1", with: "l"), print.replacing("-", with: " - ").replacing("1", with: "i"),
    ]
    for variant in typed { #expect(PublicKey.normalisedFingerprint(variant) == print, "\(variant)") }
  }
}

@Test("one wrong character and two exchanged ones are noticed")
func noticed() throws {
  for number in UInt8(0)..<5 {
    let print = Array(try testKey(number).publicKey.fingerprint.filter { $0 != "-" })
    for i in print.indices {
      for letter in alphabet where letter != print[i] {
        var wrong = print
        wrong[i] = letter
        if PublicKey.normalisedFingerprint(String(wrong)) != nil { Issue.record("\(String(wrong))") }
      }
      for j in print.indices where print[i] != print[j] {
        var wrong = print
        wrong.swapAt(i, j)
        if PublicKey.normalisedFingerprint(String(wrong)) != nil { Issue.record("\(String(wrong))") }
      }
      var short = print
      short.remove(at: i)
      #expect(PublicKey.normalisedFingerprint(String(short)) == nil)
    }
  }
  for junk in ["", "-", "U", "é", String(repeating: "0", count: 33), String(repeating: "0", count: 35)] {
    #expect(PublicKey.normalisedFingerprint(junk) == nil)
  }
}
