import SatchelBundle
import SatchelCrypto
import TestSupport
import Testing

@Suite("Damage to a bundle on its way")
struct DamageTests {
  let room: ReadingRoom
  let good = HandMade()

  init() throws { room = try ReadingRoom() }

  @Test("one byte that flips anywhere in the tar is never accepted")
  func flips() throws {
    let right = tar(try good.signed())
    for place in right.indices {
      var wrong = right
      wrong[place] ^= 1 << (place & 7)
      #expect(try room.outcome(of: zstd(wrong)).reason != nil, "the byte \(place)")
    }
  }

  @Test("a tar that ends anywhere too early is never accepted")
  func cuts() throws {
    let right = tar(try good.signed())
    for count in right.indices {
      #expect(try room.outcome(of: zstd(Array(right[..<count]))).reason != nil, "\(count) bytes")
    }
  }

  /// The signature does not cover the compression. So a few bits of a frame have no effect, or give another encoding of
  /// the same tar.
  @Test("one bit that flips anywhere in the compressed file gives the same bundle or none")
  func compressedFlips() throws {
    let (right, digest) = try compressed()
    for place in right.indices {
      for bit in 0..<8 {
        var wrong = right
        wrong[place] ^= 1 << bit
        let outcome = try room.outcome(of: wrong)
        #expect(outcome.reason != nil || outcome == .accepted(digest), "the bit \(bit) of the byte \(place)")
      }
    }
  }

  @Test("a compressed file that ends anywhere too early is never accepted")
  func compressedCuts() throws {
    let (right, _) = try compressed()
    for count in right.indices { #expect(try room.outcome(of: Array(right[..<count])).reason != nil, "\(count) bytes") }
  }

  /// The correct bundle, compressed by stock tools.
  private func compressed() throws -> (file: [UInt8], digest: Digest) {
    try room.folder.write(tar(try good.signed()), to: "right.tar")
    try StockTool.zstd("-q", "-3", "--no-check", "right.tar", in: room.folder.path)
    let file = try room.folder.read("right.tar.zst")
    guard case .accepted(let digest) = try room.outcome(of: file) else {
      throw ToolFailure("the bundle itself is refused")
    }
    return (file, digest)
  }
}
