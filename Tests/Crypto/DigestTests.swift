import Foundation
import SatchelCrypto
import SatchelValues
import Testing

@Test("BLAKE2b gives the digest of RFC 7693's example")
func knownVector() {
  #expect(
    Digest.of("abc".bytes).hexadecimal
      == "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
      + "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923")
  #expect(
    Digest.of([]).hexadecimal
      == "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419"
      + "d25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce")
}

@Test(
  "digests are those of b2sum, whole, in pieces and shorter", arguments: [0, 1, 127, 128, 129, 255, 256, 1000, 100_000])
func stockDigests(count: Int) throws {
  let scratch = try Scratch()
  let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  try scratch.write(bytes, to: "data")
  func stock(bits: Int) throws -> String {
    let (status, output) = try scratch.run("b2sum", from: "coreutils", ["-l", String(bits), "data"])
    #expect(status == 0)
    return String(output.prefix { $0 != " " })
  }
  let expected = try stock(bits: 512)
  #expect(Digest.of(bytes).hexadecimal == expected)
  for piece in [1, 3, 64, 128, 4096] where count / piece < 5000 {
    var hasher = BLAKE2b512()
    for start in stride(from: 0, to: count, by: piece) {
      hasher.update(Array(bytes[start..<min(start + piece, count)]))
    }
    hasher.update([])
    let digest = hasher.finish()
    #expect(digest.hexadecimal == expected)
  }
  var hasher = BLAKE2b512()
  bytes.withUnsafeBytes { hasher.update($0) }
  let digest = hasher.finish()
  #expect(digest == Digest.of(bytes))
  for length in [16, 20, 32, 64] {
    let text = Hexadecimal.text(of: blake2b(bytes, length: length))
    #expect(try text == stock(bits: length * 8))
  }
}

@Test("a hasher that is dropped unfinished lets its memory go")
func dropped() {
  for _ in 0..<1000 {
    var hasher = BLAKE2b512()
    hasher.update([1, 2, 3])
  }
}

@Test("a digest has one spelling")
func spelling() {
  let digest = Digest.of([1])
  #expect(Digest(hexadecimal: digest.hexadecimal) == digest)
  #expect(Digest(bytes: digest.bytes) == digest)
  let text = digest.hexadecimal
  for other in [
    text.uppercased(), String(text.dropLast()), text + "0", String(text.dropLast(2)), "g" + text.dropFirst(), "",
    " " + text,
  ] {
    #expect(Digest(hexadecimal: other) == nil)
  }
  #expect(Digest(bytes: [1, 2]) == nil)
}
