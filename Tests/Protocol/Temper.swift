/// How often each event happens in a history. The first temper is that of the model in docs/DESIGN.md. The others make
/// rare events frequent.
struct Temper {
  /// The shares of events: a device writes, a device exports, the hub emits for a device, the office writes, and rights
  /// change. In the rest of the events, the courier carries a file.
  var write = 0.45
  var export = 0.15
  var emit = 0.10
  var hub = 0.05
  var rights = 0.03
  /// The shares of new rows and of deletes among a device's writes.
  var birth = 0.3
  var death = 0.15
  /// How often a carried file is lost, and how often it stays on the stick.
  var loss = 0.25
  var stay = 0.3
  /// How often a new row has a key that other devices may choose too.
  var sharedKey = 0.2

  static let all = [
    Temper(),
    // There are few rows, and the office writes them all the time.
    Temper(write: 0.25, export: 0.1, emit: 0.15, hub: 0.2, birth: 0.08, death: 0.05, loss: 0.1),
    // There are many emissions and few exports, so devices rebase their changes again and again.
    Temper(write: 0.25, export: 0.04, emit: 0.2, hub: 0.15, birth: 0.08, death: 0.08, loss: 0.05, stay: 0.1),
    // There are many exports and few emissions.
    Temper(write: 0.35, export: 0.2, emit: 0.04, hub: 0.03, birth: 0.15),
    // Rows are made and deleted under a few keys.
    Temper(
      write: 0.35, export: 0.12, emit: 0.12, hub: 0.08, rights: 0.03, birth: 0.45, death: 0.35, loss: 0.1,
      sharedKey: 0.9),
    // Rights change all the time.
    Temper(write: 0.3, export: 0.12, emit: 0.15, hub: 0.03, rights: 0.12, birth: 0.2),
    // The courier loses most files, and leaves files on the stick.
    Temper(loss: 0.6, stay: 0.8),
  ]
}
