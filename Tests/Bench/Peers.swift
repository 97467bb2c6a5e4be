import Foundation
import TestSupport

/// Other programs that do a part of the same work. `scripts/bench-peers.sh` installs them. If a program could not be
/// installed, its version is nil, and the tables say so.
struct Peers {
  enum Peer: String, CaseIterable { case apsw, pygeodiff, sqldiff }

  private static let folder = PackageFolder.file("Tests/Bench").path
  private let python = FileManager.default.currentDirectoryPath + "/.build/bench-venv/bin/python"
  private var versions: [Peer: String] = [:]

  init() throws {
    for peer in Peer.allCases {
      let isProgram = peer == .sqldiff
      guard FileManager.default.isExecutableFile(atPath: isProgram ? "/usr/bin/sqldiff" : python) else { continue }
      let words =
        isProgram ? ["-c", "dpkg-query -W -f '${Version}' sqlite3-tools"] : ["-c", "exec \(call("version \(peer)"))"]
      let result = try runProgram(at: "/usr/bin/bash", words, in: "/")
      if result.status == 0 { versions[peer] = result.lines.first }
    }
  }

  func has(_ peer: Peer) -> Bool { versions[peer] != nil }

  private func call(_ words: String) -> String { "'\(python)' '\(Self.folder)/peers.py' \(words)" }

  /// How long a peer in Python works in a folder, in seconds. The start of Python itself is not counted. nil: the peer
  /// is not installed.
  func time(_ peer: Peer, _ words: String, in folder: String) throws -> Double? {
    guard has(peer) else { return nil }
    let result = try runProgram(at: "/usr/bin/bash", ["-ec", call(words)], in: folder)
    guard result.status == 0, let seconds = result.lines.last.flatMap(Double.init) else {
      throw ToolFailure("\(peer) \(words): \(result.text)\(result.complaint)")
    }
    return seconds
  }

  /// The installed peers with their versions, and the missing peers.
  var words: String {
    Peer.allCases.map { "\($0.rawValue) \(versions[$0] ?? "NOT INSTALLED (run scripts/bench-peers.sh to see why)")" }
      .joined(separator: ", ")
  }

  /// A shell command that compiles minimal programs in C. They show the cost of the work without merging, keeping or
  /// checking.
  static func compileFloors(_ output: String) -> String {
    "cc -O2 -o \(output) '\(folder)/floors.c' -lsqlite3 -lsodium -lzstd"
  }
}
