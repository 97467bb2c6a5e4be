import CQRCode

/// A QR code (ISO/IEC 18004), as a square of dark and light modules.
public struct QRCode: Sendable {
  /// The number of modules on each side, without the margin.
  public let size: Int
  private let dark: [Bool]

  /// Makes the smallest code that holds `text`. A reader can repair at least a seventh of the code. nil: the text is
  /// too long for every code (more than 2 kB).
  public init?(_ text: String) {
    // The size is `qrcodegen_BUFFER_LEN_MAX`, which the largest code needs. Swift does not import this constant.
    var buffer = [UInt8](repeating: 0, count: 3918)
    var code = buffer
    guard
      qrcodegen_encodeText(
        text, &buffer, &code, qrcodegen_Ecc_MEDIUM, qrcodegen_VERSION_MIN, qrcodegen_VERSION_MAX, qrcodegen_Mask_AUTO,
        true)
    else { return nil }
    let size = Int(qrcodegen_getSize(code))
    self.size = size
    dark = (0..<size * size).map { qrcodegen_getModule(code, Int32($0 % size), Int32($0 / size)) }
  }

  /// Whether a module is dark. Outside the code every module is light, because a reader needs a margin of four modules.
  public func isDark(_ x: Int, _ y: Int) -> Bool {
    (0..<size).contains(x) && (0..<size).contains(y) && dark[y * size + x]
  }

  /// The code with its margin in lines of text. Each character shows two modules, one above the other. Light modules
  /// are drawn, because most terminals are dark. With `colour`, the code is black on white on every terminal.
  public func text(colour: Bool) -> String {
    let margin = -4..<size + 4
    let lines = stride(from: margin.lowerBound, to: margin.upperBound, by: 2).map { y in
      let blocks = margin.map { x in
        Self.block(upper: !isDark(x, y), lower: y + 1 < margin.upperBound && !isDark(x, y + 1))
      }
      .joined()
      return colour ? "\u{1b}[97;40m\(blocks)\u{1b}[0m\n" : blocks + "\n"
    }
    return lines.joined()
  }

  private static func block(upper: Bool, lower: Bool) -> String {
    switch (upper, lower) {
    case (true, true): "█"
    case (true, false): "▀"
    case (false, true): "▄"
    case (false, false): " "
    }
  }
}
