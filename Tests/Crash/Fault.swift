import Foundation
import TestSupport

/// One system call of a command that fails.
struct Fault: CustomStringConvertible {
  let call: String
  /// The call's number among the calls with its name, counted from 1.
  let number: Int
  let error: String

  var description: String { "\(call) \(number) \(error)" }
}

extension CrashFixture {
  /// Ways in which a command may fail: a full disk, a failing disk, a read-only medium, missing rights, too many open
  /// files, and a stick that is pulled out while it is read. With `atEachCall`, each call fails in one possible way.
  /// Otherwise a few calls fail in each way, evenly spread.
  /// - Parameter code: the exit code of the command if no call fails.
  func faults(_ tool: String, _ words: [String], code: Int32, atEachCall: Bool) throws -> [Fault] {
    let spread = atEachCall ? Self.each : Self.spread
    let names = ["write", "pwrite64", "fsync", "renameat", "mkdirat", "openat", "read"]
    let calls = try calls(names, of: tool, words, code: code)
    let writes = calls.filter { !["openat", "read"].contains($0.name) }
    let opens = calls.filter { $0.name == "openat" && $0.isHere }
    let openedToWrite = opens.filter { $0.line.contains("O_RDWR") || $0.line.contains("O_CREAT") }
    let onStick = calls.filter {
      ["openat", "read"].contains($0.name) && $0.line.contains("/stick/") && !$0.line.contains("O_CREAT")
    }
    return spread(writes, ["ENOSPC", "EIO"]) + spread(openedToWrite, ["EROFS"])
      + spread(opens, ["EACCES", "EMFILE"]) + spread(onStick, ["EIO", "ENODEV"])
      + spread(onStick.filter { $0.name == "openat" }, ["ENOENT"])
  }

  private static func each(_ calls: [Call], _ errors: [String]) -> [Fault] {
    calls.enumerated().map { Fault(call: $1.name, number: $1.number, error: errors[$0 % errors.count]) }
  }

  private static func spread(_ calls: [Call], _ errors: [String]) -> [Fault] {
    if calls.isEmpty { return [] }
    return errors.enumerated().map { place, error in
      let call = calls[(place + 1) * calls.count / (errors.count + 1)]
      return Fault(call: call.name, number: call.number, error: error)
    }
  }

  private struct Call {
    let name: String
    let number: Int
    let line: String
    /// Whether the call found its file, in the fixture's own folder.
    let isHere: Bool
  }

  /// The calls of a command that have one of these names, in order.
  private func calls(_ names: [String], of tool: String, _ words: [String], code: Int32) throws -> [Call] {
    let result = try StockTool.strace.run(
      [
        "-f", "--seccomp-bpf", "-qq", "-y", "-o", "calls", "-e", "trace=\(names.joined(separator: ","))",
        builtProgram(tool),
      ] + words,
      in: folder.path)
    guard result.status == code else { throw ToolFailure("\(words): \(result.status) \(result.complaint)") }
    var counts: [String: Int] = [:]
    return try folder.text("calls").split(separator: "\n").compactMap { line in
      guard let name = names.first(where: { line.contains(" \($0)(") }) else { return nil }
      counts[name, default: 0] += 1
      let isHere =
        line.range(of: ") = ", options: .backwards).map { line[$0.upperBound...].contains(folder.path) } ?? false
      return Call(name: name, number: counts[name] ?? 0, line: String(line), isHere: isHere)
    }
  }

  /// All files of the fixture with their contents. Files that commands make although they only read are left out.
  func contents() throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      if [".satchel.lock", "-shm", "-wal", "lock"].contains(where: name.hasSuffix) { continue }
      contents[name] = FileManager.default.contents(atPath: folder(name)) ?? Data()
    }
    return contents
  }

  /// Runs a shell command that can use the tools. Throws if the command fails.
  func shell(_ words: String) throws {
    let tools = URL(filePath: builtProgram("satchel")).deletingLastPathComponent().path
    try StockTool.bash("-euc", "PATH=\(tools):$PATH\n\(words)", in: folder.path)
  }
}
