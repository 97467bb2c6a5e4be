/// A word of the command line that is not an option, identified by its position.
public struct ArgumentSpec: Sendable {
  public enum Arity: Sendable {
    case one
    case optional
    /// One or more.
    case many
    case zeroOrMore

    var minimum: Int { self == .one || self == .many ? 1 : 0 }
    var isList: Bool { self == .many || self == .zeroOrMore }
  }

  /// The name in help and in the command's code: `FILE`.
  public let name: String
  public let arity: Arity
  public let help: String

  public init(_ name: String, _ arity: Arity = .one, help: String) {
    self.name = name
    self.arity = arity
    self.help = help
  }

  /// The argument's part of the usage line.
  var usage: String {
    switch arity {
    case .one: name
    case .optional: "[\(name)]"
    case .many: "\(name)..."
    case .zeroOrMore: "[\(name)...]"
    }
  }
}
