import SatchelValues

/// Rows of text in aligned columns, for people.
///
///     var table = TextTable(["NAME", .right("BUNDLES")])
///     table.add(["asha", "12"])
///     console.show(table.text(width: console.traits.width))
///
/// Cells may come from any user's database. U+FFFD replaces characters that move the cursor or reverse the text.
public struct TextTable: Sendable {
  public struct Column: Sendable, ExpressibleByStringLiteral {
    let title: String
    let alignsRight: Bool

    public static func left(_ title: String) -> Column { Column(title: title, alignsRight: false) }
    /// A column for numbers.
    public static func right(_ title: String) -> Column { Column(title: title, alignsRight: true) }
    public init(stringLiteral title: String) { self = .left(title) }

    private init(title: String, alignsRight: Bool) {
      self.title = title
      self.alignsRight = alignsRight
    }
  }

  /// The treatment of a cell in the last column that does not fit.
  public enum Overflow: Sendable {
    /// The cell is cut, and ends with an ellipsis.
    case clip
    /// The cell continues on the next lines.
    case wrap
  }

  private let columns: [Column]
  private var rows: [[String]] = []

  /// A table with a heading. If all titles are empty, the table has no heading.
  public init(_ columns: [Column]) {
    precondition(!columns.isEmpty, "a table has columns")
    self.columns = columns
  }

  /// Adds a row. Missing cells are empty.
  public mutating func add(_ cells: [String]) {
    precondition(cells.count <= columns.count, "a row has more cells than the table has columns")
    rows.append(cells.map(visible) + Array(repeating: "", count: columns.count - cells.count))
  }

  public var isEmpty: Bool { rows.isEmpty }

  /// The table in lines that end with a newline, without trailing spaces. Only the last column shrinks to `width`, to
  /// ten columns at least. If `width` is nil, the table is as wide as needed.
  public func text(width: Int?, indent: Int = 0, overflow: Overflow = .clip) -> TerminalText {
    let (all, widths) = (lines, widths)
    let start = widths.dropLast().reduce(indent) { $0 + $1 + Self.gap }
    let room = width.map { max(10, $0 - start) } ?? Int.max
    var text = ""
    for row in all {
      let cells = columns.indices.map {
        columns[$0].aligned(row[$0], to: $0 == lastColumn ? min(room, widths[$0]) : widths[$0])
      }
      let before = cells.dropLast().map { $0 + spaces(Self.gap) }.joined()
      for (i, line) in fit(cells[lastColumn], in: room, overflow).enumerated() {
        text += withoutTrailingSpaces(i == 0 ? spaces(indent) + before + line : spaces(start) + line) + "\n"
      }
    }
    // Cells and titles were made safe by `visible` already.
    return TerminalText(ofOwnMaking: text)
  }

  /// Whether the whole table fits into this width.
  public func fits(in width: Int) -> Bool { widths.reduce(0, +) + Self.gap * (columns.count - 1) <= width }

  /// The heading, if there is one, and the rows.
  private var lines: [[String]] {
    (columns.allSatisfy(\.title.isEmpty) ? [] : [columns.map { visible($0.title) }]) + rows
  }

  private var widths: [Int] {
    let lines = lines
    return columns.indices.map { i in lines.map { $0[i].displayWidth }.max() ?? 0 }
  }

  private var lastColumn: Int { columns.count - 1 }

  private static let gap = 2

  private func fit(_ cell: String, in room: Int, _ overflow: Overflow) -> [String] {
    if cell.displayWidth <= room { return [cell] }
    switch overflow {
    case .clip: return [String(String.UnicodeScalarView(cell.unicodeScalars.prefix(room - 1))) + "…"]
    case .wrap: return wrap(cell.split(separator: " ").map(String.init), width: room)
    }
  }
}

extension TextTable.Column {
  fileprivate func aligned(_ cell: String, to width: Int) -> String {
    let padding = spaces(max(0, width - cell.displayWidth))
    return alignsRight ? padding + cell : cell + padding
  }
}

private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

private func withoutTrailingSpaces(_ line: String) -> String {
  var line = line
  while line.last == " " { line.removeLast() }
  return line
}
