import SatchelConflicts
import SatchelCrypto
import SatchelValues

/// A digest of the conflicts on a page. A decision about many conflicts contains this mark. So the hub can check that
/// the person saw the same conflicts.
public struct ConflictSetMark: Hashable, Sendable {
  public let text: String

  /// - Parameter text: a mark that a form sends back.
  public init(_ text: String) { self.text = text }

  init(of ids: some Sequence<ConflictID>) { self.init(lines: ids.map(\.text)) }

  /// The mark of decided conflicts. If a conflict is decided again, the mark changes.
  init(ofDecided conflicts: [StoredConflict]) {
    self.init(lines: conflicts.map { "\($0.record.id.text) \($0.decision?.at ?? 0)" })
  }

  private init(lines: [String]) {
    text = String(Digest.of(Array(lines.sorted().joined(separator: "\n").utf8)).hexadecimal.prefix(32))
  }
}
