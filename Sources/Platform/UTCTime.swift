/// Times in UTC as texts, for people and for file names.
///
/// A date is computed from a number of days with `civil_from_days`. Howard Hinnant describes it in "chrono-Compatible
/// Low-Level Date Algorithms" (https://howardhinnant.github.io/date_algorithms.html). Its years begin in March, so the
/// leap day is the last day of a year.
public enum UTCTime {
  /// The text for people, for example `2026-01-31T08:05:09Z`. Fractions of a second are dropped.
  public static func text(milliseconds: Int64) -> String {
    let t = Parts(milliseconds: milliseconds)
    return "\(t.year)-\(t.month)-\(t.day)T\(t.hour):\(t.minute):\(t.second)Z"
  }

  /// The text for file names, for example `20260131T080509Z`. Every file system allows it, FAT too.
  public static func fileName(milliseconds: Int64) -> String {
    let t = Parts(milliseconds: milliseconds)
    return "\(t.year)\(t.month)\(t.day)T\(t.hour)\(t.minute)\(t.second)Z"
  }

  /// The end of a UTC day such as `2026-01-31`, in milliseconds since 1970; nil if the text is no day.
  public static func endOfDay(_ text: String) -> Int64? {
    milliseconds(of: text + "T00:00:00Z").map { $0 + 86_400_000 }
  }

  /// The time of a text for people, or the beginning of a UTC day such as `2026-01-31`, in milliseconds since 1970;
  /// nil if the text is neither.
  public static func beginning(_ text: String) -> Int64? {
    milliseconds(of: text) ?? milliseconds(of: text + "T00:00:00Z")
  }

  /// The time of a text for people, in milliseconds since 1970; nil if the text has another form.
  public static func milliseconds(of text: String) -> Int64? {
    guard isText(text) else { return nil }
    let numbers = text.utf8.split { !(48...57).contains($0) }.map { $0.reduce(0) { $0 * 10 + Int64($1) - 48 } }
    // The number of days is computed with `days_from_civil` from the same page, the inverse of `civil`.
    let year = numbers[1] <= 2 ? numbers[0] - 1 : numbers[0]
    let era = floorDivide(year, by: 400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (numbers[1] + (numbers[1] > 2 ? -3 : 9)) + 2) / 5 + numbers[2] - 1
    let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    return ((days * 24 + numbers[3]) * 60 + numbers[4]) * 60_000 + numbers[5] * 1000
  }

  /// Whether a text is a valid time in the form for people.
  public static func isText(_ text: String) -> Bool {
    let form = Array("0000-00-00T00:00:00Z".utf8)
    guard text.utf8.map({ (48...57).contains($0) ? UInt8(ascii: "0") : $0 }) == form else { return false }
    let numbers = text.utf8.split { !(48...57).contains($0) }.map { $0.reduce(0) { $0 * 10 + Int($1) - 48 } }
    let (year, month, day) = (numbers[0], numbers[1], numbers[2])
    let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...12).contains(month) && (1...days[month - 1]).contains(day) && numbers[3] < 24 && numbers[4] < 60
      && numbers[5] < 60
  }

  /// The parts of a time, with leading zeros.
  private struct Parts {
    let year, month, day, hour, minute, second: String

    init(milliseconds: Int64) {
      let seconds = floorDivide(milliseconds, by: 1000)
      let days = floorDivide(seconds, by: 86_400)
      let inDay = seconds - days * 86_400
      let date = civil(fromDays: days)
      year = padded(date.year, to: 4)
      month = padded(date.month, to: 2)
      day = padded(date.day, to: 2)
      hour = padded(inDay / 3600, to: 2)
      minute = padded(inDay / 60 % 60, to: 2)
      second = padded(inDay % 60, to: 2)
    }
  }

  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468  // since 0000-03-01
    let era = floorDivide(shifted, by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }

  private static func floorDivide(_ a: Int64, by b: Int64) -> Int64 {
    a >= 0 ? a / b : (a + 1) / b - 1
  }

  private static func padded(_ number: Int64, to width: Int) -> String {
    let digits = String(number.magnitude)
    return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
