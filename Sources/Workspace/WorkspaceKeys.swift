import SatchelCrypto
import SatchelPlatform

/// The keys of a workspace: its own pair, and the public keys of those it trusts.
public enum WorkspaceKeys {
  private static let maximumBytes = 4 << 10

  /// Makes a new pair from the platform's randomness and writes it, the secret key readable by its owner alone.
  public static func generate(_ folder: WorkspaceFolder, name: String, platform: Platform) throws -> PublicKey {
    guard let id = KeyID(bytes: platform.random.bytes(KeyID.size)) else {
      throw WorkspaceError("bad-key", "No key could be made.")
    }
    let key = SigningKey.generate(seed: platform.random.bytes(32), keyID: id)
    let publicKey = key.publicKey
    try platform.files.replace(folder.secretKey, mode: 0o600, contents: key.fileBytes(comment: "satchel secret key of \(name)"))
    try platform.files.replace(
      folder.publicKey, mode: 0o644, contents: publicKey.fileBytes(comment: "satchel public key of \(name)"))
    return publicKey
  }

  /// The workspace's own secret key. Refused where others can read it.
  public static func own(_ folder: WorkspaceFolder, files: any FileSystem) throws -> SigningKey {
    let path = folder.secretKey
    guard try files.kind(path) != nil else {
      throw WorkspaceError(
        "no-key", "The secret key \(path) is missing.", hint: "Bring it back from a backup, or enrol this device anew.")
    }
    guard try files.permissions(path) & 0o077 == 0 else {
      throw WorkspaceError("open-key", "The secret key \(path) can be read by others.", hint: "Run: chmod 600 \(path)")
    }
    do { return try SigningKey(fileBytes: files.read(path, limit: maximumBytes)) } catch let error as KeyError {
      throw WorkspaceError(
        "bad-key", "The secret key \(path) cannot be used: \(error.message)", hint: "Bring it back from a backup.")
    }
  }

  /// The public key in a file of minisign's form.
  public static func publicKey(at path: String, files: any FileSystem) throws -> PublicKey {
    do { return try PublicKey(fileBytes: files.read(path, limit: maximumBytes)) } catch let error as KeyError {
      throw WorkspaceError("bad-key", "The public key \(path) cannot be used: \(error.message)", hint: nil)
    }
  }

  public static func trust(_ key: PublicKey, as name: String, folder: WorkspaceFolder, files: any FileSystem) throws {
    try files.replace(folder.publicKey(of: name), mode: 0o644, contents: key.fileBytes(comment: "satchel public key of \(name)"))
  }
}
