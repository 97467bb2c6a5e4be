import SatchelBundle
import SatchelMerge
import SatchelValues

/// The exported changes of rows that were also written in an old copy of the database.
struct ExportedLines {
  private struct Told {
    let line: ChangeLine
    let sequence: SequenceNumber
  }

  /// The last generation of the old copy of the database.
  private let generation: Generation
  private var told: [RowInTable: [Told]] = [:]

  init(since generation: Generation) { self.generation = generation }

  /// Adds a line of an export. The caller passes the exports in order.
  ///
  /// If several exports have a change of one generation, the first export counts, because it has the change as it was
  /// made. Later imports may have undone parts of the change.
  mutating func take(_ line: ChangeLine, from sequence: SequenceNumber) {
    guard let begun = line.generation, begun >= generation else { return }
    var lines = told[RowInTable(table: line.table, key: line.key), default: []]
    if let place = lines.firstIndex(where: { $0.line.generation == begun }) {
      // If the spelling of a key changed, an export has two lines of a row in one generation.
      guard lines[place].sequence == sequence else { return }
      lines.remove(at: place)
    }
    lines.append(Told(line: line, sequence: sequence))
    told[RowInTable(table: line.table, key: line.key)] = lines
  }

  /// The exported changes of a row that may contain the same writes as a write of the copy, oldest first.
  ///
  /// An earlier repair may have repeated the write of another copy. Such a change has a later generation, and still the
  /// same first stamp.
  /// - Parameters:
  ///   - image: the row before the write of the copy.
  ///   - isUnseen: whether no trigger recorded the write. If so, any exported change may contain it, because the newer
  ///     database may have found the write in any generation.
  func lines(of row: RowInTable, begunAs image: PreImage, isUnseen: Bool) -> [ChangeLine] {
    let lines = told[row, default: []].map(\.line)
    if isUnseen { return lines.sorted { $0.generation ?? .zero < $1.generation ?? .zero } }
    let common = image.first.map { first in lines.filter { $0.first?.stamp == first.stamp } } ?? []
    if common.isEmpty { return lines.filter { $0.generation == generation } }
    return common.sorted { $0.generation ?? .zero < $1.generation ?? .zero }
  }
}
