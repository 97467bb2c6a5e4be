import SatchelCapture
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// The new keys that a device itself gave to its rows, and the first keys of these rows.
struct OwnNames {
  private var back: PrimaryKeyMap
  private var forth: PrimaryKeyMap
  private var origins: [KeyedRow: Value] = [:]

  init(_ store: HubStore) throws {
    let references = try PrimaryKeyReferences(store.tables)
    back = PrimaryKeyMap(references, store.tables)
    forth = PrimaryKeyMap(references, store.tables)
  }

  /// Records that a row got another key. The caller passes these changes in the order in which they happened.
  mutating func note(_ name: (old: Value, new: KeyedRow)) {
    let place = name.new.place
    let origin = origins[KeyedRow(place: place, key: name.old)] ?? name.old
    origins[name.new] = origin
    back.add(.init(place: place, old: name.new.key, new: origin))
    forth.add(.init(place: place, old: origin, new: name.new.key))
  }

  /// Returns the step with the first keys of its rows.
  func original(_ step: Step, in place: Int) -> Step { back.step(step, of: place) }

  /// Returns the step with the present keys of its rows.
  func present(_ step: Step, in place: Int) -> Step { forth.step(step, of: place) }
}
