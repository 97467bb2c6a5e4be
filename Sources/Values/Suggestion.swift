/// The candidate that the person probably meant; nil if none is similar enough. It is the most similar candidate. At
/// most two edits lead to it, and fewer edits than it has letters.
public func suggestion(for word: String, among candidates: [String]) -> String? {
  let near = candidates.map { (candidate: $0, distance: editDistance(word, $0)) }
    .filter { $0.distance <= 2 && $0.distance < $0.candidate.drop { $0 == "-" }.count }
  return near.min { $0.distance < $1.distance }?.candidate
}

/// Returns `; did you mean 'X'?` with the suggestion, or an empty text.
public func didYouMean(_ word: String, among candidates: [String]) -> String {
  suggestion(for: word, among: candidates).map { "; did you mean '\($0)'?" } ?? ""
}

/// The number of edits that make one word from another word. An edit adds, drops or changes a letter, or swaps two
/// neighbours (the "optimal string alignment" distance).
public func editDistance(_ a: String, _ b: String) -> Int {
  let a = Array(a.unicodeScalars)
  let b = Array(b.unicodeScalars)
  // For a distance above 2 the exact number does not matter. Returning here saves work on long words.
  if abs(a.count - b.count) > 2 { return abs(a.count - b.count) }
  var beforeLast: [Int] = []
  var last = Array(0...b.count)
  for i in a.indices {
    var row = [i + 1]
    for j in b.indices {
      var best = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, beforeLast[j - 1] + 1) }
      row.append(best)
    }
    beforeLast = last
    last = row
  }
  return last[b.count]
}
