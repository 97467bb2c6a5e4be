import Foundation
import TestSupport

/// Random geometries in GeoPackage's form, with their expected properties. A seed repeats them.
struct RandomGeometry {
  private(set) var blob: [UInt8] = []
  /// The bounds in the order minx, maxx, miny, maxy; nil: the geometry is empty.
  private(set) var bounds: [Double]?

  private var random: SplitMix64
  private var wkb: [UInt8] = []

  init(_ seed: UInt64) {
    random = SplitMix64(seed: seed)
    let code = random.one(of: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17])
    geometry(code, dimensions: random.below(4), ewkb: random.once(in: 3), depth: 0)
    blob = header() + wkb
  }

  private mutating func header() -> [UInt8] {
    let little = random.once(in: 2)
    let envelope = bounds == nil || random.once(in: 2) ? 0 : random.one(of: [1, 2, 3, 4])
    var flags = UInt8(little ? 1 : 0) | UInt8(envelope) << 1
    if bounds == nil, random.once(in: 2) { flags |= 0x10 }
    var numbers = envelope > 0 ? bounds ?? [] : []
    while numbers.count < [0, 4, 6, 6, 8][envelope] { numbers.append(0) }
    return Array("GP".utf8) + [0, flags] + bytes(UInt32(4326), little)
      + numbers.flatMap { bytes($0.bitPattern, little) }
  }

  /// - Parameter dimensions: 0: x and y; 1: also Z; 2: also M; 3: also Z and M.
  private mutating func geometry(_ code: Int, dimensions: Int, ewkb: Bool, depth: Int) {
    let little = random.once(in: 2)
    var type = UInt32(code)
    if ewkb {
      type |= (dimensions & 1 != 0 ? 0x8000_0000 : 0) | (dimensions & 2 != 0 ? 0x4000_0000 : 0)
    } else {
      type += UInt32(dimensions) * 1000
    }
    wkb.append(little ? 1 : 0)
    wkb += bytes(type, little)
    let size = 2 + [0, 1, 1, 2][dimensions]
    switch code {
    case 1: point(size, little, mayBeEmpty: true)
    // All points of an arc are on one line. So the arc does not go beyond its points.
    case 2: points(random.below(5), size, little)
    case 8: points(random.once(in: 2) ? 0 : 3, size, little, inLine: true)
    case 3, 17:
      let rings = random.below(3)
      wkb += bytes(UInt32(rings), little)
      for _ in 0..<rings { points(4, size, little) }
    default:
      let parts = depth > 3 ? 0 : random.below(4)
      wkb += bytes(UInt32(parts), little)
      let inside = [
        4: [1], 5: [2], 6: [3], 9: [2, 8], 10: [2, 8, 9], 11: [2, 8, 9], 12: [3, 10], 15: [3], 16: [17],
      ][code]
      for _ in 0..<parts {
        geometry(random.one(of: inside ?? [1, 2, 3, 4, 5, 6, 7]), dimensions: dimensions, ewkb: ewkb, depth: depth + 1)
      }
    }
  }

  private mutating func points(_ count: Int, _ size: Int, _ little: Bool, inLine: Bool = false) {
    wkb += bytes(UInt32(count), little)
    let y = random.fraction() * 100
    for _ in 0..<count { point(size, little, y: inLine ? y : nil) }
  }

  private mutating func point(_ size: Int, _ little: Bool, y: Double? = nil, mayBeEmpty: Bool = false) {
    var numbers = (0..<size).map { _ in random.fraction() * 360 - 180 }
    if let y { numbers[1] = y }
    if mayBeEmpty, random.once(in: 5) {
      numbers = numbers.map { _ in Double.nan }
    } else {
      let (x, y) = (numbers[0], numbers[1])
      let old = bounds ?? [x, x, y, y]
      bounds = [min(old[0], x), max(old[1], x), min(old[2], y), max(old[3], y)]
    }
    wkb += numbers.flatMap { bytes($0.bitPattern, little) }
  }

  private func bytes<Number: FixedWidthInteger>(_ number: Number, _ little: Bool) -> [UInt8] {
    withUnsafeBytes(of: little ? number.littleEndian : number.bigEndian) { Array($0) }
  }
}
