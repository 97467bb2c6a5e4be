import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelCrypto
import SatchelMerge
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Changes that a device and a copy of the device both deliver. The work was pending when the device's folder was
/// copied, so both copies deliver it, and the hub must count it once.
///
/// Two changes with the same first write have a shared beginning. The writes after the first write may be shared too.
/// If the hub cannot determine the shared part of a counter, a person decides.
final class SharedChanges {
  private let store: HubStore
  private let overlaps: [Overlap]
  private var known: [Place: [Known]] = [:]
  /// The generations in which the archive has all changes of the other history.
  private var covered: Set<Int64> = []
  private var names: OwnNames
  /// For each shared row: the writes of other histories that count as writes of this device.
  private var owned: [StepMerger.RowReference: Set<SharedWrite>] = [:]

  /// The exports that a device may share with another history.
  private struct Overlap {
    let history: HubStore.RelatedHistory
    /// The generations that may belong to both histories. The other history has delivered them.
    let generations: Range<Int64>
  }

  private struct Place: Hashable {
    let place: Int
    /// The row's key as the step spells it. If a device changes the spelling of a key, it makes two steps.
    let spelling: [Value]
    let generation: Generation
  }

  /// A change that another history delivered.
  private struct Known {
    let history: ReplicaID
    /// The step with the first keys of its rows: the keys from before the two histories parted.
    let step: Step
    /// The key of the step's row in the other history.
    let key: RowKey
    /// Whether this change was in the emission that the device had when it made its bundle. If so, the device has
    /// rebased its own changes on the changed row.
    let isReplayed: Bool

    var write: SharedWrite { SharedWrite(history: history, stamp: step.stamp) }

    /// Whether the change consists of its first write only. Also true if release 0.1 made the change, because it does
    /// not send the first write.
    var isBeginning: Bool { step.first?.isOnly ?? true }
  }

  /// The part of a change that no other history has delivered yet.
  enum Rest {
    /// The whole change, because no part was delivered.
    case all
    /// The other history has delivered the whole change.
    case nothing
    /// The hub merges only what the device wrote after the shared beginning.
    case later([Part])
    /// Both copies wrote the row again, and the hub cannot determine the shared part.
    case unclear

    /// The rank of a result. If other histories lead to different results, the result of the highest rank counts.
    fileprivate var rank: Int {
      switch self {
      case .all: 0
      case .later: 1
      case .unclear: 2
      case .nothing: 3
      }
    }
  }

  /// A part of a change, and the writes of other histories that the device had made before this part.
  typealias Part = (step: Step, after: Set<SharedWrite>)

  /// Returns nil if no other history has delivered a change that this bundle may also have.
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

  /// Reads the changes that another history delivered, and translates their keys into the first keys of the rows.
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

  /// Returns the changes of this row in this generation that other histories delivered.
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
      // This is a later write into a shared row. The shared writes count as the device's own, because the device had
      // them.
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
    // If several copies share parts of this change, the greatest shared part counts.
    let rests = others.map { rest(ofOriginal: sent, after: $0, others, in: place) }
    return rests.max { $0.rank < $1.rank } ?? .all
  }

  private func rest(ofOriginal sent: Step, after other: Known, _ all: [Known], in place: Int) -> Rest {
    // Release 0.1 does not send the first write, so only the stamps are compared.
    guard let first = sent.first, let otherFirst = other.step.first else {
      return sent.stamp == other.step.stamp ? .nothing : .all
    }
    if first.stamp != otherFirst.stamp { return .all }
    let rules = store.rows[place].rules
    guard let change = remainder(of: sent.change, after: other.step.change, isReplayed: other.isReplayed, by: rules)
    else { return .all }
    if case .update(let changes) = change, changes.isEmpty { return .nothing }
    // Two copies may write different values at the same moment. In that case, both writes count.
    if first.isOnly { return otherFirst.isOnly ? .all : .nothing }
    if !otherFirst.isOnly, isUnclear(change, of: sent, in: place) { return .unclear }
    let writes = otherFirst.isOnly ? Set(all.filter(\.isBeginning).map(\.write)) : []
    guard case .update(var changes) = change else { return .later([(sent.with(change), writes)]) }
    if !otherFirst.isOnly, case .insert = sent.change { changes = withoutRemovals(changes, by: rules) }
    // For counters and sets, the hub adds the difference to its own value. So it does not matter which side wrote that
    // value.
    let differences = changes.filter { rules.countsDifferences(of: $0.column) }
    let others = changes.filter { !rules.countsDifferences(of: $0.column) }
    let parts: [([ColumnChange], Set<SharedWrite>)] = [(differences, []), (others, writes)]
    return .later(parts.filter { !$0.0.isEmpty }.map { (sent.with(.update($0.0)), $0.1) })
  }

  /// Whether the step changes a counter: a column whose policy is `sum`. A new row changes a counter if it begins with
  /// a number other than 0.
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

  /// Whether the shared part of a counter is unknown, because both copies wrote the row again after the first write. If
  /// both copies made the new row and reached the same number, this number counts once.
  /// - Parameter rest: the difference between the other copy's row and this row.
  private func isUnclear(_ rest: Change, of sent: Step, in place: Int) -> Bool {
    guard case .insert = sent.change else { return addsUp(sent, in: place) }
    guard case .update(let changes) = rest else { return false }
    return changes.contains { store.rows[place].rules.combination(of: $0.column) == .sum }
  }

  /// Leaves out removals of set elements. Two copies of a new row may have different elements, but neither removed any.
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

  /// Returns the hub's key of a new row of the device, if another history delivered the same row. Otherwise nil.
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
