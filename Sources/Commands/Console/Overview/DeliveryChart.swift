import SatchelPlatform
import SatchelWorkspace

/// The bundles that came from devices on each of the last 60 days, as bars and as a table.
struct DeliveryChart {
  private let found: [LedgerDay]
  private let first: Int64

  private static let count: Int64 = 60
  private static let day: Int64 = 86_400_000

  /// The first time that the chart shows, in milliseconds since 1970.
  static func start(_ now: Int64) -> Int64 { (now / day - count + 1) * day }

  /// - Parameter found: the days with deliveries, oldest first.
  init(_ found: [LedgerDay], now: Int64) {
    first = Self.start(now) / Self.day
    let first = first
    self.found = found.filter { $0.day >= first && $0.day < first + Self.count }
  }

  var markup: Markup {
    if found.isEmpty { return "<p>No bundle with changes came in the last 60 days.</p>" }
    let bundles = found.reduce(0) { $0 + $1.bundles }
    let words =
      """
      \(Words.count(bundles, "bundle")) with changes came on \(Words.count(found.count, "day")) of the last 60, most \
      on \(found.max { $0.bundles < $1.bundles }.map { Self.date($0.day) } ?? "").
      """
    return """
      <figure>
      <svg viewBox="0 0 600 120" width="600" role="img" aria-label="\(words)">
      <g class="bars">\(found.map(bar))</g>
      <path class="axis" d="M0 100H600"/><text y="115">\(Self.date(first))</text>
      <text x="600" y="115" text-anchor="end">\(Self.date(first + Self.count - 1))</text>
      </svg>
      <figcaption>\(words)</figcaption>
      </figure>
      <details><summary>The same as a table</summary>
      \(table.markup(caption: "Days with deliveries, newest first"))</details>
      """
  }

  private func bar(_ day: LedgerDay) -> Markup {
    let most = max(1, found.map(\.bundles).max() ?? 1)
    let height = max(2, 100 * day.bundles / most)
    return "<rect x=\"\((day.day - first) * 10 + 1)\" y=\"\(100 - height)\" width=\"8\" height=\"\(height)\"/>"
  }

  private var table: StatusSheet.Table {
    StatusSheet.Table(
      titles: ["Day (UTC)", "Bundles", "Changes"], numbers: [1, 2],
      rows: found.reversed().map { [Self.date($0.day), String($0.bundles), String($0.changes)] })
  }

  private static func date(_ day: Int64) -> String { String(UTCTime.text(milliseconds: day * Self.day).prefix(10)) }
}
