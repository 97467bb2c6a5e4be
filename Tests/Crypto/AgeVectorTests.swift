import Foundation
import SatchelCrypto
import TestSupport
import Testing

/// The test vectors of C2SP/CCTV for the age format: files with their expected results. They are kept beside the
/// repository.
private struct Vector: Sendable, CustomTestStringConvertible {
  let name: String
  var fields: [(name: String, value: String)] = []
  var file: [UInt8] = []

  var testDescription: String { name }

  static let folder = PackageFolder.data("cctv-age/testdata")

  /// The vectors for X25519 and scrypt. Satchel does not support armor and post-quantum recipients.
  static func all() throws -> [Vector] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try #require(names, "age's test vectors are missing: expected them in \(folder.path)").sorted()
      .filter { !$0.hasPrefix("armor_") && !$0.hasPrefix("hybrid") }.map { try Vector($0) }
  }

  private init(_ name: String) throws {
    self.name = name
    var rest = try [UInt8](Data(contentsOf: Self.folder.appending(path: name)))[...]
    while let end = rest.firstIndex(of: 0x0a) {
      let line = String(decoding: rest[..<end], as: UTF8.self)
      rest = rest[(end + 1)...]
      if line.isEmpty { break }
      let parts = line.split(separator: ": ", maxSplits: 1)
      fields.append((String(parts[0]), String(parts[1])))
    }
    file = Array(rest)
    // The larger vectors are compressed with zlib.
    if values("compressed") == ["zlib"] {
      let unpack =
        "import sys, zlib; sys.stdout.buffer.write(zlib.decompress(open(sys.argv[1], 'rb').read()[int(sys.argv[2]):]))"
      let path = Self.folder.appending(path: name).path
      file = try StockTool.python3("-c", unpack, path, String(rest.startIndex), in: Self.folder.path).output
    }
  }

  func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  func key() throws -> AgeOpener.Key {
    if let password = values("passphrase").first.flatMap({ Password(Array($0.utf8)) }) { return .password(password) }
    return .identities(try values("identity").map { try AgeIdentity($0) })
  }
}

/// Opens a vector's file. Returns the result, in the terms of the vectors, and the output.
private func outcome(of vector: Vector, piece: Int) throws -> (word: String, payload: [UInt8]) {
  var opener = AgeOpener(try vector.key())
  var payload: [UInt8] = []
  do {
    for start in stride(from: 0, to: vector.file.count, by: piece) {
      payload += try opener.open(vector.file[start..<min(start + piece, vector.file.count)])
    }
    payload += try opener.finish()
    return ("success", payload)
  } catch {
    switch error {
    case .notAge, .malformed: return ("header failure", payload)
    case .noMatch, .wrongPassword: return ("no match", payload)
    case .headerChanged: return ("HMAC failure", payload)
    case .contentChanged: return ("payload failure", payload)
    case .unfitKey, .noMemory: return (error.code.rawValue, payload)
    }
  }
}

@Test("each vector of the age format gets its verdict, however its bytes arrive")
func ageVectors() throws {
  let vectors = try Vector.all()
  #expect(vectors.count >= 90)
  for vector in vectors {
    for piece in vector.file.count < 5_000 ? [1, 7, 100_000] : [4_099, 65_536, 1 << 20] {
      let (word, payload) = try outcome(of: vector, piece: piece)
      #expect(word == vector.values("expect").first, "\(vector.name), \(piece)")
      // If opening fails, the output before the failure is the beginning of the vector's payload, or all of it.
      if let digest = vector.values("payload").first, word == "success" || piece == 1 {
        #expect(try sha256(payload) == digest, "\(vector.name), \(piece)")
      }
    }
  }
}

private func sha256(_ bytes: [UInt8]) throws -> String {
  let folder = try TemporaryFolder()
  try folder.write(bytes, to: "payload")
  return String(try StockTool.sha256sum("payload", in: folder.path).text.prefix(64))
}
