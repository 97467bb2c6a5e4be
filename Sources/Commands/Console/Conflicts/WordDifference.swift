/// The difference of two texts, word by word.
struct WordDifference {
  enum Piece: Equatable {
    case same(String)
    case removed(String)
    case added(String)
  }

  let pieces: [Piece]

  /// The longest text that is compared, in bytes.
  private static let mostBytes = 100_000
  /// The most words and spaces of each text that are compared, without the common beginning and end. The memory grows
  /// with the square of this number.
  private static let mostWords = 400

  /// nil: the texts are too long, or have too little in common for a useful difference.
  init?(from old: String, to new: String) {
    guard old != new, old.utf8.count <= Self.mostBytes, new.utf8.count <= Self.mostBytes else { return nil }
    let (a, b) = (Self.words(old), Self.words(new))
    guard min(a.count, b.count) >= 3 else { return nil }
    let start = zip(a, b).prefix { $0 == $1 }.count
    let end = zip(a.dropFirst(start).reversed(), b.dropFirst(start).reversed()).prefix { $0 == $1 }.count
    let (middle, other) = (Array(a[start..<a.count - end]), Array(b[start..<b.count - end]))
    var pieces: [Piece] = a.prefix(start).map { .same($0) }
    pieces += Self.compared(middle, other)
    pieces += a.suffix(end).map { .same($0) }
    let words = pieces.count { if case .same(let word) = $0 { word.contains { !$0.isWhitespace } } else { false } }
    // The counts include spaces, which are half of the pieces. So at least a fifth of the words must be the same.
    guard words * 10 >= max(a.count, b.count) else { return nil }
    self.pieces = Self.joined(pieces)
  }

  /// Words, and the spaces between them.
  private static func words(_ text: String) -> [String] {
    var words: [String] = []
    var wasSpace: Bool?
    for scalar in text.unicodeScalars {
      let isSpace = scalar.properties.isWhitespace
      if isSpace == wasSpace { words[words.count - 1].unicodeScalars.append(scalar) } else { words.append("\(scalar)") }
      wasSpace = isSpace
    }
    return words
  }

  /// The longest common subsequence, by a table (Cormen et al., Introduction to Algorithms, chapter 15.4).
  private static func compared(_ a: [String], _ b: [String]) -> [Piece] {
    if a.count > mostWords || b.count > mostWords { return a.map { .removed($0) } + b.map { .added($0) } }
    var length = Array(repeating: Array(repeating: 0, count: b.count + 1), count: a.count + 1)
    for i in a.indices.reversed() {
      for j in b.indices.reversed() {
        length[i][j] = a[i] == b[j] ? length[i + 1][j + 1] + 1 : max(length[i + 1][j], length[i][j + 1])
      }
    }
    var pieces: [Piece] = []
    var (i, j) = (0, 0)
    while i < a.count || j < b.count {
      if i < a.count, j < b.count, a[i] == b[j] {
        pieces.append(.same(a[i]))
        (i, j) = (i + 1, j + 1)
      } else if j == b.count || i < a.count && length[i + 1][j] >= length[i][j + 1] {
        pieces.append(.removed(a[i]))
        i += 1
      } else {
        pieces.append(.added(b[j]))
        j += 1
      }
    }
    return pieces
  }

  /// Joins neighbouring pieces of one kind into one piece. A space between two changed words becomes a part of the
  /// change.
  private static func joined(_ pieces: [Piece]) -> [Piece] {
    var (result, removed, added): ([Piece], String, String) = ([], "", "")
    func close() {
      if !removed.isEmpty { result.append(.removed(removed)) }
      if !added.isEmpty { result.append(.added(added)) }
      (removed, added) = ("", "")
    }
    for (place, piece) in pieces.enumerated() {
      switch piece {
      case .removed(let word): removed += word
      case .added(let word): added += word
      case .same(let word):
        let isBetween = place + 1 < pieces.count && !pieces[place + 1].isSame && !(removed.isEmpty && added.isEmpty)
        if isBetween, word.allSatisfy(\.isWhitespace) {
          removed += removed.isEmpty ? "" : word
          added += added.isEmpty ? "" : word
          continue
        }
        close()
        if case .same(let before)? = result.last {
          result[result.count - 1] = .same(before + word)
        } else {
          result.append(.same(word))
        }
      }
    }
    close()
    return result
  }

  /// The new text with marks. Long passages that did not change are cut in their middle.
  var markup: Markup { "\(pieces.map(\.markup))" }
}

extension WordDifference.Piece {
  fileprivate var isSame: Bool { if case .same = self { true } else { false } }

  fileprivate var markup: Markup {
    let most = 400
    return switch self {
    case .removed(let words): "<del>\(Words.clipped(words))</del>"
    case .added(let words): "<ins>\(Words.clipped(words))</ins>"
    case .same(let words) where words.count <= most: "\(words)"
    case .same(let words): "\(words.prefix(most / 2)) <small>...</small> \(words.suffix(most / 2))"
    }
  }
}
