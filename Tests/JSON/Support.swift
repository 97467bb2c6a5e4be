import Foundation
import SatchelValues
import TestSupport

private let awkwardReals: [Double] = [
  0, -0.0, 1, .leastNonzeroMagnitude, -.leastNormalMagnitude, .infinity, -.infinity, 1e16,
]

extension SplitMix64 {
  /// A random value of any kind that SQLite can store. Many of them are difficult cases.
  mutating func value() -> Value {
    switch Int.random(in: 0..<12, using: &self) {
    case 0: .null
    case 1: .integer(Int64.random(in: -1000...1000, using: &self))
    case 2: .integer(Int64(bitPattern: next()))
    case 3: .integer((1 << 53) - 2 + Int64.random(in: 0...4, using: &self))
    case 4: .integer([Int64.min, Int64.max, 0, -1, -(1 << 53), -(1 << 53) + 1].randomElement(using: &self) ?? 0)
    case 5: .real(awkwardReals.randomElement(using: &self) ?? 0)
    case 6: .real(Double(next() >> 40) / 1000)
    case 7:
      switch Double(bitPattern: next()) {
      case let real where real.isNaN: .real(0.1)
      case let real: .real(real)
      }
    case 8: .text(bytes(upTo: 12))
    case 9: .string(String(bytes(upTo: 6).map { Character(UnicodeScalar($0)) }) + "é\u{65}\u{301}\u{1f9fa}")
    case 10: .string("plain text, \"quoted\" \\ \n")
    default: .blob(bytes(upTo: 40))
    }
  }
}

extension String {
  var bytes: [UInt8] { Array(utf8) }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
