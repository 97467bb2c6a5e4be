extension ParsedCommand {
  /// A number of days; nil where the option is not there.
  func days(_ option: String) throws -> Int64? {
    try value(option).map { text in
      guard let days = Int64(text), (1...36_500).contains(days) else {
        throw UsageError("--\(option) takes a number of days, from 1 on")
      }
      return days
    }
  }
}
