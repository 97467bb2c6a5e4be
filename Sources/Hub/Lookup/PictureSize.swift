/// The width and height in the header of a picture, in pixels. A small file can state a size for which a browser would
/// need gigabytes.
struct PictureSize: Equatable {
  let width: Int
  let height: Int

  /// The most pixels of a picture that is shown. Pictures from cameras have fewer.
  static let mostPixels = 50_000_000

  /// Whether a browser can show the picture without harm.
  var isShown: Bool {
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    return width > 0 && height > 0 && !overflow && pixels <= Self.mostPixels
  }

  /// Reads the size from the IHDR chunk, which is the first chunk. nil if the header cannot be read.
  /// Source: PNG specification, section 11.2.1.
  init?(png bytes: [UInt8]) {
    guard bytes.count >= 24, bytes[12..<16].elementsEqual("IHDR".utf8) else { return nil }
    self.init(width: Self.big(bytes[16..<20]), height: Self.big(bytes[20..<24]))
  }

  /// Reads the size of the logical screen. nil if the header cannot be read. Source: GIF89a specification, section 18.
  init?(gif bytes: [UInt8]) {
    guard bytes.count >= 10 else { return nil }
    self.init(width: Self.little(bytes[6..<8]), height: Self.little(bytes[8..<10]))
  }

  /// Reads the size from the first frame header. nil if there is none. Source: ITU-T T.81, section B.2.2.
  init?(jpeg bytes: [UInt8]) {
    var place = 2
    while place + 9 <= bytes.count, bytes[place] == 0xff {
      let marker = bytes[place + 1]
      // There may be fill bytes before a marker.
      if marker == 0xff {
        place += 1
        continue
      }
      // All frame headers, but not DHT (C4), JPG (C8) and DAC (CC).
      if (0xc0...0xcf).contains(marker), ![0xc4, 0xc8, 0xcc].contains(marker) {
        self.init(width: Self.big(bytes[place + 7..<place + 9]), height: Self.big(bytes[place + 5..<place + 7]))
        return
      }
      let length = Self.big(bytes[place + 2..<place + 4])
      // The data of a scan has no length. A scan comes only after the frame header, so this picture has no frame
      // header.
      guard length >= 2, marker != 0xda else { return nil }
      place += 2 + length
    }
    return nil
  }

  /// Reads the size from the first chunk: VP8X, VP8L or VP8. nil if the header cannot be read.
  /// Sources: WebP container specification (RFC 9649), and RFC 6386, section 9.1.
  init?(webP bytes: [UInt8]) {
    guard bytes.count >= 30 else { return nil }
    switch String(decoding: bytes[12..<16], as: UTF8.self) {
    case "VP8X": self.init(width: 1 + Self.little(bytes[24..<27]), height: 1 + Self.little(bytes[27..<30]))
    case "VP8L" where bytes[20] == 0x2f:
      let bits = Self.little(bytes[21..<25])
      self.init(width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff))
    case "VP8 " where bytes[23..<26].elementsEqual([0x9d, 0x01, 0x2a]):
      self.init(width: Self.little(bytes[26..<28]) & 0x3fff, height: Self.little(bytes[28..<30]) & 0x3fff)
    default: return nil
    }
  }

  init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

  private static func big(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

  private static func little(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
}
