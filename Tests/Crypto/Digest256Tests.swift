import SatchelCrypto
import Testing

@Suite("Sums of digests")
struct Digest256Tests {
  @Test("a digest is BLAKE2b with 32 bytes, as b2sum -l 256 prints it")
  func vector() {
    #expect(
      Digest256.of(Array("abc".utf8)).hexadecimal == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319")
    #expect(Digest256.of([]).first(bits: 6) == 0x0e >> 2)
  }

  @Test("addition is modulo 2^256, carries, and is undone by subtraction")
  func sums() throws {
    let most = try #require(Digest256(hexadecimal: String(repeating: "f", count: 64)))
    let one = try #require(Digest256(hexadecimal: String(repeating: "0", count: 63) + "1"))
    var sum = most
    sum += one
    #expect(sum == .zero)
    sum -= one
    #expect(sum == most)
    var other = Digest256.of([1])
    other += Digest256.of([2])
    other -= Digest256.of([1])
    #expect(other == Digest256.of([2]) && Digest256(bytes: other.bytes) == other)
  }

  @Test("only sixty-four lower-case digits are a digest")
  func texts() {
    #expect(Digest256(hexadecimal: String(repeating: "F", count: 64)) == nil)
    #expect(Digest256(hexadecimal: "00") == nil)
  }
}
