import Glibc

extension WallClock {
  /// How far local civil time is ahead of UTC at a moment, in seconds. A clock without a time zone shows UTC.
  public func secondsEast(at milliseconds: Int64) -> Int64 { 0 }

  /// A moment in local time, for people: `2026-01-31T10:05:09+02:00`. It ends in `Z` where local time is UTC. Fractions
  /// of a second are dropped.
  /// - Parameter milliseconds: since 1970.
  public func localText(milliseconds: Int64) -> String {
    // A zone of earlier centuries may differ from UTC by seconds, and ISO 8601 has no place for these.
    let minutes = secondsEast(at: milliseconds) / 60
    let (shown, isTooFar) = milliseconds.addingReportingOverflow(minutes * 60_000)
    if minutes == 0 || isTooFar { return UTCTime.text(milliseconds: milliseconds) }
    let text = UTCTime.text(milliseconds: shown)
    let (hours, rest) = (minutes.magnitude / 60, minutes.magnitude % 60)
    func padded(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(text.dropLast())\(minutes < 0 ? "-" : "+")\(padded(hours)):\(padded(rest))"
  }

  /// A moment in UTC, as bundles have it, in local time. A text that is no such moment stays.
  public func localText(ofUTC text: String) -> String {
    UTCTime.milliseconds(of: text).map { localText(milliseconds: $0) } ?? text
  }

  /// The local day of a moment: `2026-01-31`.
  public func localDay(milliseconds: Int64) -> String { String(localText(milliseconds: milliseconds).prefix(10)) }

  /// The end of a local day such as `2026-01-31`, in milliseconds since 1970; nil if the text is no day.
  public func endOfLocalDay(_ text: String) -> Int64? { UTCTime.endOfDay(text).map(moment) }

  /// A moment with its zone, such as `2026-01-31T08:05:09Z`, or the beginning of a local day, in milliseconds since
  /// 1970; nil if the text is neither.
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
    // The offset at `shown` may be wrong, because summer time may begin or end between it and the result. So the offset
    // is read again at the first result.
    let first = shown - secondsEast(at: shown) * 1000
    return shown - secondsEast(at: first) * 1000
  }
}

extension SystemClock {
  /// By the time zone of the process (TZ, or /etc/localtime).
  public func secondsEast(at milliseconds: Int64) -> Int64 {
    var time = time_t(milliseconds / 1000)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else { return 0 }
    return unsafe Int64(parts.tm_gmtoff)
  }
}
