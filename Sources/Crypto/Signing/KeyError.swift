import SatchelValues

/// Why a file is not a usable key.
public enum KeyError: Error, Equatable, Sendable {
  case tooLarge
  case malformed
  case passwordProtected
  case wrongPassword
  case damaged
  case unfitComment
  case noMemory

  /// The code by which scripts recognise the error. It never changes.
  public var code: Reason {
    switch self {
    case .tooLarge: .keyTooLarge
    case .malformed: .keyMalformed
    case .passwordProtected: .keyPasswordProtected
    case .wrongPassword: .keyWrongPassword
    case .damaged: .keyDamaged
    case .unfitComment: .keyCommentUnfit
    case .noMemory: .keyNoMemory
    }
  }

  /// The fault and the next step, in words for people.
  public var message: String {
    switch self {
    case .tooLarge: "the file is larger than any key: check that it is the right one"
    case .malformed: "this is not a minisign key: it needs a line with an untrusted comment and a line with the key"
    case .passwordProtected: "the key is protected by a password, and none was given"
    case .wrongPassword: "the password is wrong"
    case .damaged: "the key does not fit its own checksum: restore the file from a copy"
    case .unfitComment: "a comment must be one line without control characters, short enough for the file"
    case .noMemory: "this machine has too little memory for its password"
    }
  }
}
