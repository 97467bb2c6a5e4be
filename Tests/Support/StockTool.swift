import Foundation

/// The output and the exit status of a tool.
public struct ToolResult: Sendable {
  public let status: Int32
  public let output: [UInt8]
  public let complaint: String

  public var text: String { String(decoding: output, as: UTF8.self) }
  public var lines: [String] { text.split(separator: "\n").map(String.init) }
}

/// Why a stock tool failed in a test.
public struct ToolFailure: Error, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}

/// A program that every system has, or that Debian has.
public enum StockTool: String, Sendable {
  case tar, zstd, b2sum, minisign, jq, sqlite3, python3, ogrinfo, ogr2ogr, bash, sha256sum, age, zbarimg, mformat,
    mcopy, mdir,
    strace
  case ageKeygen = "age-keygen"

  private var package: String {
    switch self {
    case .b2sum, .sha256sum: "coreutils"
    case .ogrinfo, .ogr2ogr: "gdal-bin"
    case .ageKeygen: "age"
    case .zbarimg: "zbar-tools"
    case .mformat, .mcopy, .mdir: "mtools"
    case .tar, .zstd, .minisign, .jq, .sqlite3, .python3, .bash, .age, .strace: rawValue
    }
  }

  /// Runs the tool in a folder, with any exit status. Throws if it is not installed.
  public func run(_ arguments: [String], in folder: String) throws -> ToolResult {
    let path = "/usr/bin/\(rawValue)"
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw ToolFailure("\(rawValue) is missing: install Debian's package \(package)")
    }
    return try runProgram(at: path, before + arguments, in: folder)
  }

  /// Arguments that always come before the given arguments.
  private var before: [String] {
    // The address sanitizer finds leaks by tracing, and a process can have only one tracer.
    self == .strace ? ["-E", "ASAN_OPTIONS=detect_leaks=0"] : []
  }

  /// Runs the tool in a folder. Throws if it is not installed or fails.
  @discardableResult
  public func callAsFunction(_ arguments: String..., in folder: String) throws -> ToolResult {
    try self(arguments, in: folder)
  }

  @discardableResult
  public func callAsFunction(_ arguments: [String], in folder: String) throws -> ToolResult {
    let result = try run(arguments, in: folder)
    guard result.status == 0 else {
      throw ToolFailure(
        "\(rawValue) \(arguments.joined(separator: " ")) ended with \(result.status): \(result.text)\(result.complaint)"
      )
    }
    return result
  }
}

/// Runs a program in a folder as a separate process, with any exit status.
public func runProgram(at path: String, _ arguments: [String], in folder: String) throws -> ToolResult {
  var environment = ProcessInfo.processInfo.environment
  environment["LC_ALL"] = "C.UTF-8"
  environment["PYTHONDONTWRITEBYTECODE"] = "1"
  let process = try ChildProcess(path, arguments, in: folder, environment: environment)
  let (said, complained) = (process.readToEnd(), process.complaint())
  return ToolResult(status: process.wait(), output: said, complaint: complained)
}

/// The path of a program of this package, built beside the tests that run.
public func builtProgram(_ name: String) -> String {
  let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
  var folder = URL(filePath: bundle)
  while folder.path.contains(".xctest") { folder.deleteLastPathComponent() }
  return folder.appending(path: name).path
}
