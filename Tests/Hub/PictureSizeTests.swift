import Testing

@testable import SatchelHub

@Suite("The size of pictures")
struct PictureSizeTests {
  private func bytes(_ hexadecimal: String) -> [UInt8] {
    hexadecimal.split(separator: " ").compactMap { UInt8($0, radix: 16) }
  }

  private func pixels(_ size: PictureSize?) -> [Int] { size.map { [$0.width, $0.height] } ?? [] }

  @Test("the size is read from the header of each format")
  func headers() {
    let png = bytes("89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52 00 00 01 00 00 01 00 02")
    #expect(pixels(PictureSize(png: png)) == [256, 65538])
    #expect(pixels(PictureSize(gif: Array("GIF89a".utf8) + bytes("02 01 03 00"))) == [258, 3])
    let jpeg = bytes("ff d8 ff e0 00 04 01 02 ff ff c4 00 03 00 ff c2 00 11 08 01 02 03 04 03")
    #expect(pixels(PictureSize(jpeg: jpeg)) == [772, 258])
    func webP(_ kind: String, _ rest: String) -> [UInt8] {
      Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBP\(kind)".utf8) + bytes("00 00 00 00 \(rest)")
    }
    #expect(pixels(PictureSize(webP: webP("VP8X", "00 00 00 00 ff 01 00 09 00 00"))) == [512, 10])
    #expect(pixels(PictureSize(webP: webP("VP8L", "2f 09 c0 04 00 00 00 00 00 00"))) == [10, 20])
    #expect(pixels(PictureSize(webP: webP("VP8 ", "00 00 00 9d 01 2a 40 01 f0 00"))) == [320, 240])
  }

  @Test("a picture is shown only if its header states a size that a browser can hold")
  func limit() {
    #expect(PictureSize(width: 8_000, height: 6_000).isShown)
    #expect(!PictureSize(width: 60_000, height: 60_000).isShown && !PictureSize(width: 0, height: 5).isShown)
    let start = bytes("89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52")
    #expect(AttachedImage(start + bytes("00 00 01 00 00 00 01 00"))?.type == "image/png")
    #expect(AttachedImage(start + bytes("00 00 ff ff 00 00 ff ff")) == nil)
    #expect(AttachedImage(start) == nil && AttachedImage(bytes("ff d8 ff da 00 04 01 02 03 04 05 06")) == nil)
    #expect(AttachedImage(Array("<script>".utf8)) == nil)
  }
}
