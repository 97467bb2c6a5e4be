import SatchelCrypto
import SatchelJSON
import SatchelValues
import TestSupport

@testable import SatchelBundle

/// A mutated line of an entry, or a mutated JSON document.
struct MutatedLine {
  let entry: ForgedEntry
  let value: JSONValue

  var isAboutKeys: Bool { ["rekey", "block"].contains(value["op"]?.stringValue) }

  /// Whether a reader accepts the line. Most mutated lines are well-formed, so that they reach the hub.
  var isWellFormed: Bool {
    let (bytes, limits) = (value.compactBytes, BundleLimits())
    do throws(any Error) {
      switch entry {
      case .changes:
        var parser = ChangeLineParser(limits)
        _ = try parser.parse(bytes)
      case .conflicts: _ = try ConflictRecord.parse(bytes, limits: limits)
      case .resolutions: _ = try Resolution.parse(bytes, limits: limits)
      case .attachments: _ = try AttachmentLine.parse(bytes, limits: limits)
      case .manifest, .state: break
      }
      return true
    } catch { return false }
  }

  /// Whether the hub merges the line or keeps it as a conflict. For any other line, the hub refuses the whole bundle.
  /// - Parameter forger: the forger that makes the bundle.
  func isMergeable(by forger: Forger) -> Bool {
    let (bytes, limits) = (value.compactBytes, BundleLimits())
    do throws(any Error) {
      switch entry {
      case .changes:
        var parser = ChangeLineParser(limits)
        return Self.isMergeable(try parser.parse(bytes), by: forger)
      case .conflicts:
        let line = try ConflictRecord.parse(bytes, limits: limits)
        return line.device.text == forger.id && line.generation.rawValue <= forger.sequence
          && RandomLines.columns[line.table.text] != nil && line.key.values.count == 1
      case .resolutions:
        let line = try Resolution.parse(bytes, limits: limits)
        return line.generation.rawValue <= forger.sequence
      case .attachments:
        let line = try AttachmentLine.parse(bytes, limits: limits)
        guard case .file(let size, _) = line.content else { return true }
        return size == Int64(Forger.photo.count) && line.digest == Digest.of(Forger.photo)
      case .state:
        _ = try StateEntry(json: bytes)
        return true
      case .manifest: return true
      }
    } catch { return false }
  }

  private static func isMergeable(_ line: ChangeLine, by forger: Forger) -> Bool {
    guard let names = RandomLines.columns[line.table.text], line.key.values.count == 1 else { return false }
    let columns = names.map { Name($0) }
    func areKnown(_ fields: [Field]) -> Bool { fields.allSatisfy { columns.contains($0.name) } }
    let isOfEarlierExport = line.generation.map { $0.rawValue <= forger.sequence } ?? false
    switch line.content {
    case .rekey(let key, _), .block(let key, _): return key.values.count == 1
    case .row, .gone: return false
    case .insert(let row):
      let key = row.first { $0.name == columns[0] }.map { RowKey([$0.value]) }
      return isOfEarlierExport && areKnown(row) && key == line.key
    case .delete(let was): return isOfEarlierExport && areKnown(was)
    case .update(let set, let was):
      let isOfKey = set.contains { $0.name == columns[0] }
      return isOfEarlierExport && areKnown(set) && set.map(\.name) == was.map(\.name) && !isOfKey
    }
  }
}
