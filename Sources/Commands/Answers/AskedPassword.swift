import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import Synchronization

/// The password of a workspace's keys. It comes from the named file, or from the person at the terminal, who is asked
/// once.
final class AskedPassword: PasswordSource {
  static let variable = "SATCHEL_PASSWORD_FILE"

  private let context: CommandContext
  private let file: String?
  private let prompt: String
  private let known = Mutex<[UInt8]?>(nil)

  /// - Parameter file: the file whose first line is the password. nil: the person is asked.
  init(_ context: CommandContext, file: String?, prompt: String = "Password of the keys: ") {
    self.context = context
    self.file = file
    self.prompt = prompt
  }

  func password() throws -> [UInt8]? {
    if let known = known.withLock({ $0 }) { return known }
    let password = try file.map(read) ?? context.console.readSecret(prompt)
    known.withLock { $0 = password }
    return password
  }

  private func read(_ path: String) throws -> [UInt8] {
    let files = context.platform.files
    guard try files.permissions(path) & 0o077 == 0 else {
      throw WorkspaceError(
        .openPassword, "Other users can read the password file \(path).", hint: "Run: chmod 600 \(path)")
    }
    return Array(try files.read(path, limit: 64 << 10).prefix { $0 != 0x0a && $0 != 0x0d })
  }
}

extension ParsedCommand {
  /// The source of the password of the workspace's keys.
  func passwords(_ context: CommandContext) -> AskedPassword {
    AskedPassword(
      context,
      file: value(OptionSpec.passwordFile.long).map(path) ?? context.console.environment(AskedPassword.variable))
  }
}
