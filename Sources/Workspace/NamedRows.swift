import SatchelBundle
import SatchelCapture

extension [TrackedTable] {
  /// What a reader of rows of these tables must know.
  public var critical: Set<Manifest.Critical> { contains { $0.info.isNamedByColumns } ? [.names] : [] }
}
