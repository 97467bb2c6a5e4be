import Foundation
import SatchelCrypto
import TestSupport
import Testing

/// A folder for one test. Its deinitialiser deletes it.
final class Scratch {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "satchel-crypto-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func write(_ bytes: [UInt8], to name: String) throws { try Data(bytes).write(to: folder.appending(path: name)) }
  func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: folder.appending(path: name))) }

  /// Runs a stock tool in this folder. If the tool is not installed, the test fails.
  @discardableResult
  func run(_ tool: String, from package: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
    let path = "/usr/bin/\(tool)"
    try #require(
      FileManager.default.isExecutableFile(atPath: path), "\(tool) is missing: install Debian's package \(package)")
    let process = try ChildProcess(path, arguments, in: folder.path, complaints: .withOutput)
    let text = String(decoding: process.readToEnd(), as: UTF8.self)
    return (process.wait(), text)
  }

  @discardableResult
  func minisign(_ arguments: String...) throws -> (status: Int32, output: String) {
    try run("minisign", from: "minisign", arguments)
  }
}

extension String {
  var bytes: [UInt8] { Array(utf8) }
}

/// A key that is the same in every run.
func testKey(_ number: UInt8 = 1) throws -> SigningKey {
  let id = try #require(KeyID(bytes: [UInt8](repeating: number, count: 7) + [0xab]))
  return SigningKey.generate(seed: (0..<32).map { $0 &* 7 &+ number }, keyID: id)
}
