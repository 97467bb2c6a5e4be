import Glibc

extension WallClock {
  /// The difference between local time and UTC at a moment, in seconds; positive in the east. A clock without a time
  /// zone returns 0.
  public func secondsEast(at milliseconds: Int64) -> Int64 { 0 }

  /// A moment in local time for people, without fractions of a second. An example is `2026-01-31T10:05:09+02:00`. The
  /// text ends in `Z` if local time is UTC.
  /// - Parameter milliseconds: since 1970.
  public func localText(milliseconds: Int64) -> String {
    // The difference is shown in whole minutes, because ISO 8601 has no seconds there. Only time zones of earlier
    // centuries have such seconds.
    let minutes = secondsEast(at: milliseconds) / 60
    let (shown, isTooFar) = milliseconds.addingReportingOverflow(minutes * 60_000)
    if minutes == 0 || isTooFar { return UTCTime.text(milliseconds: milliseconds) }
    let text = UTCTime.text(milliseconds: shown)
    let (hours, rest) = (minutes.magnitude / 60, minutes.magnitude % 60)
    func padded(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(text.dropLast())\(minutes < 0 ? "-" : "+")\(padded(hours)):\(padded(rest))"
  }

  /// A moment as bundles have it, in UTC, converted to local time. A text that is no such moment is returned
  /// unchanged.
  public func localText(ofUTC text: String) -> String {
    UTCTime.milliseconds(of: text).map { localText(milliseconds: $0) } ?? text
  }

  /// The local day of a moment, for example `2026-01-31`.
  public func localDay(milliseconds: Int64) -> String { String(localText(milliseconds: milliseconds).prefix(10)) }

  /// The end of a local day such as `2026-01-31`, in milliseconds since 1970; nil if the text is no day.
  public func endOfLocalDay(_ text: String) -> Int64? { UTCTime.endOfDay(text).map(moment) }

  /// The moment of a text, in milliseconds since 1970. The text is a time with a zone such as `2026-01-31T08:05:09Z`,
  /// or a local day, whose beginning counts. nil if it is neither.
  public func beginning(_ text: String) -> Int64? {
    if let day = UTCTime.milliseconds(of: text + "T00:00:00Z") { return moment(day) }
    let form = Array("+00:00".utf8)
    let zone = text.utf8.suffix(6)
    guard text.utf8.count == 25, let sign = zone.first, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(sign),
      zone.map({ (48...57).contains($0) ? UInt8(ascii: "0") : $0 }).dropFirst() == form.dropFirst(),
      let shown = UTCTime.milliseconds(of: "\(text.prefix(19))Z")
    else { return UTCTime.milliseconds(of: text) }
    let digits = zone.compactMap { (48...57).contains($0) ? Int64($0) - 48 : nil }
    let minutes = (digits[0] * 10 + digits[1]) * 60 + digits[2] * 10 + digits[3]
    return shown + (sign == UInt8(ascii: "+") ? -minutes : minutes) * 60_000
  }

  /// The moment at which a local clock shows this time.
  /// - Parameter shown: the time that the clock shows, as if it were UTC.
  private func moment(_ shown: Int64) -> Int64 {
    // The difference from UTC at `shown` may not be the one at the result, because summer time may begin or end
    // between them. So the difference is read again at the first result.
    let first = shown - secondsEast(at: shown) * 1000
    return shown - secondsEast(at: first) * 1000
  }
}

extension SystemClock {
  /// Uses the time zone of the process (TZ or /etc/localtime).
  public func secondsEast(at milliseconds: Int64) -> Int64 {
    var time = time_t(milliseconds / 1000)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else { return 0 }
    return unsafe Int64(parts.tm_gmtoff)
  }
}
