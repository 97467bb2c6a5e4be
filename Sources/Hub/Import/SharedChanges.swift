import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelCrypto
import SatchelMerge
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Changes that a device shares with a copy of itself. If work was pending when a device's folder was copied, both
/// copies deliver that work. The hub counts it once.
///
/// Two changes with the same first write have a shared beginning. Later writes may also belong to the shared part. If
/// the hub cannot determine the shared part and the values add up, a person decides.
final class SharedChanges {
  private let store: HubStore
  private let overlaps: [Overlap]
  private var known: [Place: [Known]] = [:]
  /// The generations for which the archive has the changes of the other history.
  private var covered: Set<Int64> = []
  private var names: OwnNames
  /// For each row that the device shares with another history: the writes that count as the device's own.
  private var owned: [StepMerger.RowReference: Set<SharedWrite>] = [:]

  /// The generations that a device may share with another history.
  private struct Overlap {
    let history: HubStore.RelatedHistory
    /// The generations that may belong to both histories, and that the other history has delivered.
    let generations: Range<Int64>
  }

  private struct Place: Hashable {
    let place: Int
    /// The row's key as it is spelled in the step. A change from one spelling to another is two steps.
    let spelling: [Value]
    let generation: Generation
  }

  /// A change that another history delivered.
  private struct Known {
    let history: ReplicaID
    /// The step with the keys that rows had before the two histories parted.
    let step: Step
    /// The key of the step's row in the other history.
    let key: RowKey
    /// Whether the hub's rows on the device already contained this change when the device made its bundle. If so, the
    /// device has repeated its own changes on those rows.
    let isReplayed: Bool

    var write: SharedWrite { SharedWrite(history: history, stamp: step.stamp) }

    /// Whether nothing was written after the first write. Also true for release 0.1, which does not send the first
    /// write.
    var isBeginning: Bool { step.first?.isOnly ?? true }
  }

  /// The part of a change that no other history has delivered yet.
  enum Rest {
    /// The whole change.
    case all
    /// Nothing: the other history has already delivered the change.
    case nothing
    /// The part that the device wrote after the shared beginning.
    case later([Part])
    /// Both copies wrote the row again, and the hub cannot determine the shared part.
    case unclear

    /// The rank of a result. If several histories give different results for a change, the highest rank counts.
    fileprivate var rank: Int {
      switch self {
      case .all: 0
      case .later: 1
      case .unclear: 2
      case .nothing: 3
      }
    }
  }

  /// A part of a change, and the writes of other histories on which it builds.
  typealias Part = (step: Step, after: Set<SharedWrite>)

  /// nil if no other history has delivered anything that this bundle may also contain.
  init?(
    _ workspace: HubWorkspace, _ store: HubStore, _ device: EnrolledDevice, _ changes: Manifest.Changes,
    _ digest: Digest,
    base: Cursor?
  ) throws {
    self.store = store
    let links = changes.links(with: digest)
    overlaps = try store.relatedHistories(of: device).compactMap { other in
      let end = min(other.merged, try store.parting(of: device.id, links, from: other.id) ?? other.merged)
      guard end > device.merged else { return nil }
      return Overlap(history: other, generations: device.merged.rawValue..<end.rawValue)
    }
    if overlaps.isEmpty { return nil }
    names = try OwnNames(store)
    for overlap in overlaps { try load(overlap, workspace, base) }
  }

  /// Reads the changes that another history delivered. Rows get the keys that they had at first.
  private func load(_ overlap: Overlap, _ workspace: HubWorkspace, _ cursor: Cursor?) throws {
    let other = overlap.history
    let archive = HubArchive(workspace.folder, workspace.platform.files)
    let bundles = try archive.bundles(of: other.name, dataset: store.dataset.name).sorted { $0.number < $1.number }
    for (number, path) in bundles where number > overlap.generations.lowerBound {
      let bundle = try workspace.reader.read(
        path, trust: .keys(workspace.trustedKeys(store)), staging: workspace.folder.inbox)
      guard case .changes(let changes) = bundle.manifest.body,
        try store.digest(of: changes.sequence, in: other.id) == bundle.digest
      else { continue }
      var translation = try SchemaTranslation(of: bundle.manifest, store)
      let isReplayed = try cursor.map { try store.isMerged(bundle.manifest.bundle, before: $0) } ?? true
      var names = try OwnNames(store)
      try bundle.changeLines().each { line in
        if let name = store.renaming(in: line) { names.note(name) }
        guard let generation = line.generation, overlap.generations.contains(generation.rawValue),
          let place = store.place(of: line.table), !line.content.isAboutKeys, translation.hasMeaning(in: line)
        else { return }
        let sent = try store.fitted(line, in: place, translation).step(in: store.rows[place].schema)
        let step = names.original(sent, in: place)
        let reference = Place(place: place, spelling: step.key.values, generation: generation)
        guard known[reference]?.last?.history != other.id else { return }
        known[reference, default: []].append(
          Known(history: other.id, step: step, key: sent.key, isReplayed: isReplayed))
      }
      let base = changes.base ?? changes.chain.first?.sequence ?? .zero
      covered.formUnion(overlap.generations.clamped(to: base.rawValue..<max(base, changes.sequence).rawValue))
      if number >= overlap.generations.upperBound { return }
    }
  }

  // MARK: keys

  /// Records that the device itself gave another key to a row.
  func note(_ name: (old: Value, new: KeyedRow)) { names.note(name) }

  /// Returns the changes of the step's row that other histories delivered in the same generation.
  private func others(of step: Step, in place: Int) -> [Known] {
    known[Place(place: place, spelling: step.key.values, generation: step.generation)] ?? []
  }

  // MARK: the rest of a change

  /// Returns the part of a step that no other history has delivered yet.
  /// - Parameter sent: the step with the device's own keys.
  func rest(of sent: Step, in place: Int) -> Rest {
    let original = names.original(sent, in: place)
    let row = StepMerger.RowReference(place: place, key: original.key)
    let rest = rest(ofOriginal: original, in: place)
    if case .all = rest {
      // The device knew the shared part when it made a later write into a shared row.
      return owned[row].map { .later([(sent, $0)]) } ?? .all
    }
    for other in others(of: original, in: place) where other.isBeginning { owned[row, default: []].insert(other.write) }
    guard case .later(let parts) = rest else { return rest }
    return .later(parts.map { (names.present($0.step, in: place), $0.after) })
  }

  private func rest(ofOriginal sent: Step, in place: Int) -> Rest {
    guard overlaps.contains(where: { $0.generations.contains(sent.generation.rawValue) }) else { return .all }
    let others = others(of: sent, in: place)
    if others.isEmpty {
      return covered.contains(sent.generation.rawValue) || !addsUp(sent, in: place) ? .all : .unclear
    }
    // One copy may share more of this change than the others.
    let rests = others.map { rest(ofOriginal: sent, after: $0, others, in: place) }
    return rests.max { $0.rank < $1.rank } ?? .all
  }

  private func rest(ofOriginal sent: Step, after other: Known, _ all: [Known], in place: Int) -> Rest {
    // Release 0.1 did not send the first write.
    guard let first = sent.first, let otherFirst = other.step.first else {
      return sent.stamp == other.step.stamp ? .nothing : .all
    }
    if first.stamp != otherFirst.stamp { return .all }
    let rules = store.rows[place].rules
    guard let change = remainder(of: sent.change, after: other.step.change, isReplayed: other.isReplayed, by: rules)
    else { return .all }
    if case .update(let changes) = change, changes.isEmpty { return .nothing }
    // If two writes at the same moment wrote different values, they are different writes.
    if first.isOnly { return otherFirst.isOnly ? .all : .nothing }
    if !otherFirst.isOnly, isUnclear(change, of: sent, in: place) { return .unclear }
    let writes = otherFirst.isOnly ? Set(all.filter(\.isBeginning).map(\.write)) : []
    guard case .update(var changes) = change else { return .later([(sent.with(change), writes)]) }
    if !otherFirst.isOnly, case .insert = sent.change { changes = withoutRemovals(changes, by: rules) }
    // A difference is added to the hub's value, whichever side wrote that value.
    let differences = changes.filter { rules.countsDifferences(of: $0.column) }
    let others = changes.filter { !rules.countsDifferences(of: $0.column) }
    let parts: [([ColumnChange], Set<SharedWrite>)] = [(differences, []), (others, writes)]
    return .later(parts.filter { !$0.0.isEmpty }.map { (sent.with(.update($0.0)), $0.1) })
  }

  /// Whether the step changes a column whose policy adds the changes of both sides. A new row has such a change if it
  /// begins with a number other than 0.
  private func addsUp(_ step: Step, in place: Int) -> Bool {
    let rules = store.rows[place].rules
    switch step.change {
    case .update(let changes): return changes.contains { rules.combination(of: $0.column) == .sum }
    case .insert(let row):
      return row.values.indices.contains { column in
        rules.combination(of: column) == .sum && row[column] != .null && row[column] != .integer(0)
      }
    case .delete: return false
    }
  }

  /// Whether the shared part of a counter is unknown. Both copies wrote the row again after the first write. If both
  /// made the row, and reached the same number, the number counts once.
  /// - Parameter rest: the change from the other copy's row to this one.
  private func isUnclear(_ rest: Change, of sent: Step, in place: Int) -> Bool {
    guard case .insert = sent.change else { return addsUp(sent, in: place) }
    guard case .update(let changes) = rest else { return false }
    return changes.contains { store.rows[place].rules.combination(of: $0.column) == .sum }
  }

  /// Two copies of a new row each have elements that the other lacks. Neither copy removed the elements of the other.
  private func withoutRemovals(_ changes: [ColumnChange], by rules: MergeRules) -> [ColumnChange] {
    changes.compactMap { change in
      guard rules.combination(of: change.column) == .union else { return change }
      let both = combine(.union, base: .string("[]"), hub: change.was, device: change.value) ?? change.value
      return both == change.was ? nil : ColumnChange(column: change.column, was: change.was, value: both)
    }
  }

  private func isOther(_ step: Step, in place: Int) -> Bool {
    if case .all = rest(ofOriginal: step, in: place) { true } else { false }
  }

  /// Returns the key at the hub of a row that the device made, if another history delivered the same row. nil if no
  /// history did.
  func key(ofBorn sent: Step, in place: Int) throws -> Value? {
    let born = names.original(sent, in: place)
    for other in others(of: born, in: place) {
      guard case .insert = other.step.change, let key = store.tables[place].singleKey(other.key),
        !isOther(born, in: place)
      else { continue }
      return try store.latestKey(of: key, in: place, of: other.history) ?? key
    }
    return nil
  }
}
