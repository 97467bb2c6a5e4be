extension String {
  /// Whether the word looks like an option. A lone hyphen is a word like any other.
  var isOption: Bool { utf8.count > 1 && utf8.first == UInt8(ascii: "-") }
}

extension Sequence<String> {
  /// The words that can be options: the words before `--`.
  var beforeEndOfOptions: [String] { Array(prefix { $0 != "--" }) }
}
