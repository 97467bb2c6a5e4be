/// A word of the command line that is no option, found by its place.
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

  /// As help shows it and as the command asks for it: `FILE`.
  public let name: String
  public let arity: Arity
  public let help: String

  public init(_ name: String, _ arity: Arity = .one, help: String) {
    self.name = name
    self.arity = arity
    self.help = help
  }

  /// Its part of the usage line.
  var usage: String {
    switch arity {
    case .one: name
    case .optional: "[\(name)]"
    case .many: "\(name)..."
    case .zeroOrMore: "[\(name)...]"
    }
  }
}
