extension ParsedCommand {
  /// The value of an option that is a number of days. nil if the option is absent.
  func days(_ option: String) throws -> Int64? {
    try value(option).map { text in
      guard let days = Int64(text), (1...36_500).contains(days) else {
        throw UsageError("--\(option) takes a number of days, from 1 on")
      }
      return days
    }
  }
}
