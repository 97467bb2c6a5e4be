import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelMerge
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Changes that a device has in common with a copy of itself: what was pending when a device's folder was copied comes from both, and counts
/// once.
///
/// The first write tells that two changes have one beginning. What was
/// written after that beginning may still be a part of what both have; where that cannot be known, and values add up, a person decides.
final class SharedChanges {
  private let store: HubStore
  private let kins: [Kin]
  private var known: [Place: Known] = [:]
  /// Generations of which the archive holds what the other one delivered.
  private var covered: Set<Int64> = []
  private var names: OwnNames
  /// What is the device's own of the rows of which it has something in common with another history.
  private var owned: [KeyedReference: (kin: ReplicaID, stamp: Stamp)] = [:]

  /// Another history with the same beginning.
  private struct Kin {
    let id: ReplicaID
    /// Of the device in whose name its bundles came.
    let name: String
    /// The generations that both may have had when they parted, and that it has delivered.
    let generations: Range<Int64>
  }

  private struct Place: Hashable {
    let place: Int
    let key: RowKey
    let generation: Generation
  }

  private struct KeyedReference: Hashable {
    let place: Int
    let key: RowKey
  }

  /// A change that another history delivered.
  private struct Known {
    let kin: ReplicaID
    /// By the keys that rows had when the two were one.
    let step: Step
    /// The key of its row in that history.
    let key: RowKey
    /// Whether the device knew the hub's rows with this change in them when it made its bundle: then it has replayed its own on them.
    let isInBase: Bool
  }

  /// What is left of a change.
  enum Rest {
    /// All of it.
    case all
    /// Nothing: it was delivered already.
    case nothing
    /// What was written after what both have.
    case later([Part])
    /// Both wrote more, and what both have cannot be told from it.
    case unclear
  }

  /// A part of a change. The changes of `kin` with this stamp are the device's own; nil: none.
  typealias Part = (step: Step, own: (kin: ReplicaID, stamp: Stamp)?)

  /// nil: no other history has delivered anything that this bundle may have too.
  init?(
    _ workspace: HubWorkspace, _ store: HubStore, _ device: EnrolledDevice, _ changes: Manifest.Changes, _ digest: Digest,
    base: Cursor?
  ) throws {
    self.store = store
    kins = try store.kins(of: device).compactMap { kin in
      let end = min(kin.merged, try store.parting(of: device.id, changes.links(with: digest), from: kin.id) ?? kin.merged)
      guard end > device.merged else { return nil }
      return Kin(id: kin.id, name: kin.name, generations: device.merged.rawValue..<end.rawValue)
    }
    if kins.isEmpty { return nil }
    names = try OwnNames(store)
    for kin in kins { try load(kin, workspace, base) }
  }

  /// Reads what a kin delivered, as it came first.
  private func load(_ kin: Kin, _ workspace: HubWorkspace, _ cursor: Cursor?) throws {
    let bundles = try HubArchive(workspace.folder, workspace.platform.files).bundles(of: kin.name, dataset: store.dataset.name)
      .sorted { $0.number < $1.number }
    for (number, path) in bundles where number > kin.generations.lowerBound {
      let bundle = try workspace.reader.read(path, trust: .keys(workspace.trustedKeys(store)), staging: workspace.folder.inbox)
      guard case .changes(let changes) = bundle.manifest.body,
        try store.digest(of: changes.sequence, in: kin.id) == bundle.digest
      else { continue }
      var speech = try Speech(of: bundle.manifest, store)
      let isInBase = try cursor.map { try store.isMerged(bundle.manifest.bundle, before: $0) } ?? true
      var names = try OwnNames(store)
      try bundle.changeLines().each { line in
        if let name = store.renaming(in: line) { names.note(name) }
        guard let generation = line.generation, kin.generations.contains(generation.rawValue),
          let place = store.place(of: line.table), !line.content.isAboutKeys, speech.hasAnythingToSay(in: line)
        else { return }
        let sent = try store.fitted(line, in: place, speech).step(in: store.rows[place].schema)
        let step = names.original(sent, in: place)
        let reference = Place(place: place, key: step.key, generation: generation)
        if known[reference] == nil { known[reference] = Known(kin: kin.id, step: step, key: sent.key, isInBase: isInBase) }
      }
      let base = changes.base ?? changes.chain.first?.sequence ?? .zero
      covered.formUnion(kin.generations.clamped(to: base.rawValue..<max(base, changes.sequence).rawValue))
      if number >= kin.generations.upperBound { return }
    }
  }

  // MARK: keys

  /// Notes that the device itself gave a row another key.
  func note(_ name: (old: Value, new: KeyedRow)) { names.note(name) }

  private func other(of step: Step, in place: Int) -> Known? {
    known[Place(place: place, key: step.key, generation: step.generation)]
  }

  // MARK: what is left of a change

  /// - Parameter sent: by the device's own keys.
  func rest(of sent: Step, in place: Int) -> Rest {
    let original = names.original(sent, in: place)
    let row = KeyedReference(place: place, key: original.key)
    let rest = rest(ofOriginal: original, in: place)
    if case .all = rest {
      // What it wrote later into a row that both have, it wrote knowing what both have.
      return owned[row].map { .later([(sent, $0)]) } ?? .all
    }
    if let other = other(of: original, in: place), other.step.first?.isOnly ?? true { owned[row] = (other.kin, other.step.stamp) }
    guard case .later(let parts) = rest else { return rest }
    return .later(parts.map { (names.present($0.step, in: place), $0.own) })
  }

  private func rest(ofOriginal sent: Step, in place: Int) -> Rest {
    guard kins.contains(where: { $0.generations.contains(sent.generation.rawValue) }) else { return .all }
    guard let other = other(of: sent, in: place) else {
      return covered.contains(sent.generation.rawValue) || !addsUp(sent, in: place) ? .all : .unclear
    }
    // Release 0.1 did not tell the first write.
    guard let first = sent.first, let otherFirst = other.step.first else {
      return sent.stamp == other.step.stamp ? .nothing : .all
    }
    if first.stamp != otherFirst.stamp { return .all }
    guard let change = later(sent.change, than: other, in: place) else { return .all }
    if case .update(let changes) = change, changes.isEmpty { return .nothing }
    // Two writes in one moment are not the same if they wrote other values.
    if first.isOnly { return otherFirst.isOnly ? .all : .nothing }
    if !otherFirst.isOnly, addsUp(sent, in: place) { return .unclear }
    let own = otherFirst.isOnly ? (other.kin, other.step.stamp) : nil
    guard case .update(let changes) = change else { return .later([(sent.with(change), own)]) }
    // Values that are put together meet what is here, whoever wrote it.
    let together = changes.filter { isPutTogether($0.column, in: place) }
    let others = changes.filter { !isPutTogether($0.column, in: place) }
    let parts: [([ColumnChange], (kin: ReplicaID, stamp: Stamp)?)] = [(together, nil), (others, own)]
    return .later(parts.filter { !$0.0.isEmpty }.map { (sent.with(.update($0.0)), $0.1) })
  }

  private func isPutTogether(_ column: Int, in place: Int) -> Bool {
    let rules = store.rows[place].rules
    guard rules.grain == .column, case .combination(let how) = rules.columns[column] else { return false }
    return how == .sum || how == .union
  }

  /// Whether it changes a column in which both sides' changes are added.
  private func addsUp(_ step: Step, in place: Int) -> Bool {
    guard case .update(let changes) = step.change else { return false }
    let rules = store.rows[place].rules
    return changes.contains { change in
      if case .combination(.sum) = rules.columns[change.column] { return rules.grain == .column }
      return false
    }
  }

  private func isOther(_ step: Step, in place: Int) -> Bool {
    if case .all = rest(ofOriginal: step, in: place) { true } else { false }
  }

  /// The key that a new row of the device's has at the hub, because another history delivered it; nil: none did.
  func key(ofBorn sent: Step, in place: Int) throws -> Value? {
    let born = names.original(sent, in: place)
    guard let other = other(of: born, in: place), let key = store.tables[place].singleKey(other.key),
      case .insert = other.step.change, !isOther(born, in: place)
    else { return nil }
    return try store.latestKey(of: key, in: place, of: other.kin) ?? key
  }
}

// MARK: the difference

extension SharedChanges {
  /// The change that leads from what the other one made of a row to what this one makes of it. nil: they do not fit.
  private func later(_ change: Change, than other: Known, in place: Int) -> Change? {
    switch (change, other.step.change) {
    case (.insert(let row), .insert(let made)): return Change(from: made, to: row) ?? .update([])
    case (.update(let changes), .update(let made)):
      return .update(difference(changes, after: made, isInBase: other.isInBase, in: place))
    case (.delete(let was), .update(let made)):
      if other.isInBase { return change }
      var row = was
      for column in made { row[column.column] = column.value }
      return .delete(was: row)
    default: return nil
    }
  }

  private func difference(
    _ changes: [ColumnChange], after made: [ColumnChange], isInBase: Bool, in place: Int
  ) -> [ColumnChange] {
    let other = Dictionary(uniqueKeysWithValues: made.map { ($0.column, $0) })
    let own = Set(changes.map(\.column))
    let kept = changes.map { change in
      other[change.column].map { later(change, than: $0, isInBase: isInBase, in: place) } ?? change
    }
    // What the other one changed, and this one changed back.
    let undone = isInBase ? [] : made.filter { !own.contains($0.column) }
    return (kept + undone.map { ColumnChange(column: $0.column, was: $0.value, value: $0.was) })
      .filter { $0.was != $0.value }.sorted { $0.column < $1.column }
  }

  private func later(_ change: ColumnChange, than other: ColumnChange, isInBase: Bool, in place: Int) -> ColumnChange {
    let rules = store.rows[place].rules
    // Where both sides' changes are put together, they were put together on the device too.
    if isPutTogether(change.column, in: place), case .combination(let how) = rules.columns[change.column],
      let shared = combine(how, base: other.was, hub: change.was, device: other.value),
      let value = combine(how, base: shared, hub: change.was, device: change.value)
    {
      return ColumnChange(column: change.column, was: change.was, value: value)
    }
    if change.value == other.value { return ColumnChange(column: change.column, was: change.value, value: change.value) }
    return isInBase ? change : ColumnChange(column: change.column, was: other.value, value: change.value)
  }
}
