/// How often events happen in a history. The first temper is the model's own; the others make rare events frequent.
struct Temper {
  /// The shares of events: a device writes, exports, is emitted to; the hub is written; rights change. The rest is
  /// carrying.
  var write = 0.45
  var export = 0.15
  var emit = 0.10
  var hub = 0.05
  var rights = 0.03
  /// The shares of a device's writes: new rows, and deletes.
  var birth = 0.3
  var death = 0.15
  /// How often a carried parcel is lost, and how often it stays on the stick.
  var loss = 0.25
  var stay = 0.3
  /// How often a key may be chosen by others too.
  var sharedKey = 0.2

  static let all = [
    Temper(),
    // Few rows, and the hub writes them all the time.
    Temper(write: 0.25, export: 0.1, emit: 0.15, hub: 0.2, birth: 0.08, death: 0.05, loss: 0.1),
    // Many emissions and few exports: changes are rebased again and again.
    Temper(write: 0.25, export: 0.04, emit: 0.2, hub: 0.15, birth: 0.08, death: 0.08, loss: 0.05, stay: 0.1),
    // Many exports and few emissions.
    Temper(write: 0.35, export: 0.2, emit: 0.04, hub: 0.03, birth: 0.15),
    // Rows are made and deleted under the same few keys.
    Temper(
      write: 0.35, export: 0.12, emit: 0.12, hub: 0.08, rights: 0.03, birth: 0.45, death: 0.35, loss: 0.1,
      sharedKey: 0.9),
    // Rights change all the time.
    Temper(write: 0.3, export: 0.12, emit: 0.15, hub: 0.03, rights: 0.12, birth: 0.2),
    // A courier who loses most files and never tidies the stick.
    Temper(loss: 0.6, stay: 0.8),
  ]
}
