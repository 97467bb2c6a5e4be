import Foundation

/// A program that runs beside a test as a process of its own. All of them start here, one after the other: Foundation's
/// pipes are open in every child that another thread happens to start while they are made, and who reads such a pipe to
/// its end would wait for that other child.
public final class ChildProcess {
  /// Where what it complains of goes.
  public enum Complaints: Sendable { case apart, withOutput, nowhere }

  private static let starting = NSLock()

  private let process = Process()
  private let input: FileHandle?
  private let output: FileHandle
  private let complaints: FileHandle?

  /// Starts a program, in this process's folder and with its environment unless others are given. It has an empty input
  /// unless it takes one.
  public init(
    _ path: String, _ arguments: [String], in folder: String? = nil, environment: [String: String]? = nil,
    takesInput: Bool = false, complaints place: Complaints = .apart
  ) throws {
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    if let folder { process.currentDirectoryURL = URL(filePath: folder) }
    if let environment { process.environment = environment }
    Self.starting.lock()
    defer { Self.starting.unlock() }
    let (toIt, fromIt, aside) = (takesInput ? Pipe() : nil, Pipe(), place == .apart ? Pipe() : nil)
    process.standardInput = toIt ?? FileHandle.nullDevice
    process.standardOutput = fromIt
    process.standardError = aside ?? (place == .withOutput ? fromIt : FileHandle.nullDevice)
    (input, output, complaints) = (toIt?.fileHandleForWriting, fromIt.fileHandleForReading, aside?.fileHandleForReading)
    try process.run()
  }

  public var identifier: Int32 { process.processIdentifier }

  public func write(_ bytes: some Sequence<UInt8>) { input?.write(Data(bytes)) }

  /// Tells it that nothing more comes.
  public func endInput() { try? input?.close() }

  /// What it has said since the last look; waits for it, and is empty when it has said all.
  public func read() -> [UInt8] { [UInt8](output.availableData) }

  /// All that it says until it ends.
  public func readToEnd() -> [UInt8] { [UInt8](output.readDataToEndOfFile()) }

  /// All that it complains of until it ends. Read the output first, if there is much of it.
  public func complaint() -> String { String(decoding: complaints?.readDataToEndOfFile() ?? Data(), as: UTF8.self) }

  /// Asks it to end, by SIGTERM.
  public func terminate() { process.terminate() }

  /// Waits for its end, and returns its exit status; where a signal ended it, that signal's number.
  @discardableResult
  public func wait() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Whether a signal ended it. To be asked after `wait`.
  public var wasKilled: Bool { process.terminationReason == .uncaughtSignal }
}
