import Foundation

/// A program that runs beside a test as a separate process. All programs start here, one after the other. While
/// Foundation makes pipes, any child that another thread starts inherits them. A reader of such a pipe would then wait
/// for the end of that other child.
public final class ChildProcess {
  /// The target of its error output.
  public enum Complaints: Sendable { case apart, withOutput, nowhere }

  private static let starting = NSLock()

  private let process = Process()
  private let input: FileHandle?
  private let output: FileHandle
  private let complaints: FileHandle?

  /// Starts a program, in this process's folder and with its environment unless others are given. Its input is empty
  /// unless `takesInput` is true.
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

  /// Closes its input.
  public func endInput() { try? input?.close() }

  /// Its output since the last call. Waits for output; empty at the end.
  public func read() -> [UInt8] { [UInt8](output.availableData) }

  /// All its output until it ends.
  public func readToEnd() -> [UInt8] { [UInt8](output.readDataToEndOfFile()) }

  /// All its error output until it ends. Read the output first, if there is much of it.
  public func complaint() -> String { String(decoding: complaints?.readDataToEndOfFile() ?? Data(), as: UTF8.self) }

  /// Sends it SIGTERM.
  public func terminate() { process.terminate() }

  /// Waits for its end, and returns its exit status; if a signal ended it, that signal's number.
  @discardableResult
  public func wait() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Whether a signal ended it. Call it after `wait`.
  public var wasKilled: Bool { process.terminationReason == .uncaughtSignal }
}
