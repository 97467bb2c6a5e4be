/// How often things happen in a history. The first is the model's own; the others look for what happens seldom in it.
struct Temper {
  /// Of all events these share: a device writes, exports, is emitted to; somebody writes at the hub; rights change. The
  /// rest is carrying.
  var write = 0.45
  var export = 0.15
  var emit = 0.10
  var hub = 0.05
  var rights = 0.03
  /// Of a device's writes these share: new rows, and deletes.
  var birth = 0.3
  var death = 0.15
  /// How often a parcel that is carried is lost, and how often it stays on the stick.
  var loss = 0.25
  var stay = 0.3
  /// How often a key is one that others may choose too.
  var sharedKey = 0.2

  static let all = [
    Temper(),
    // Few rows, and the hub writes them all the time.
    Temper(write: 0.25, export: 0.1, emit: 0.15, hub: 0.2, birth: 0.08, death: 0.05, loss: 0.1),
    // Much comes, and little goes out: changes are rebased again and again.
    Temper(write: 0.25, export: 0.04, emit: 0.2, hub: 0.15, birth: 0.08, death: 0.08, loss: 0.05, stay: 0.1),
    // Much goes out, and little comes back.
    Temper(write: 0.35, export: 0.2, emit: 0.04, hub: 0.03, birth: 0.15),
    // Rows come and go under the same few keys.
    Temper(
      write: 0.35, export: 0.12, emit: 0.12, hub: 0.08, rights: 0.03, birth: 0.45, death: 0.35, loss: 0.1,
      sharedKey: 0.9),
    // Rights change all the time.
    Temper(write: 0.3, export: 0.12, emit: 0.15, hub: 0.03, rights: 0.12, birth: 0.2),
    // A courier who loses most and never tidies the stick.
    Temper(loss: 0.6, stay: 0.8),
  ]
}
