import SatchelValues

/// Why a file in the age format cannot be opened or made.
public enum AgeError: Error, Equatable, Sendable {
  /// The file does not begin like an age file of version 1.
  case notAge
  /// The header breaks the format's rules.
  case malformed(String)
  /// No given identity can open the file.
  case noMatch
  /// The header was not made with the file's key.
  case headerChanged
  /// The content was changed, or the content ends too early.
  case contentChanged
  case wrongPassword
  case unfitKey
  case noMemory

  /// The code by which scripts recognise the error. It never changes.
  public var code: Reason {
    switch self {
    case .notAge: .ageNotEncrypted
    case .malformed: .ageMalformed
    case .noMatch: .ageNotForUs
    case .headerChanged: .ageHeaderChanged
    case .contentChanged: .ageContentChanged
    case .wrongPassword: .ageWrongPassword
    case .unfitKey: .ageKeyMalformed
    case .noMemory: .ageNoMemory
    }
  }

  /// The error in words that continue a sentence about the file.
  public var message: String {
    switch self {
    case .notAge: "it does not begin like a file in the age format"
    case .malformed(let why): "its age header breaks the format's rules: \(why)"
    case .noMatch: "it is encrypted for another recipient"
    case .headerChanged: "the header of its encryption (age) was changed or damaged"
    case .contentChanged: "its content was changed or damaged, or the file ends too early"
    case .wrongPassword: "the password is wrong"
    case .unfitKey: "this is not a key of age: a recipient begins with age1, an identity with AGE-SECRET-KEY-1"
    case .noMemory: "this machine has too little memory for its password"
    }
  }
}
