import SatchelValues
import SatchelWorkspace

/// Limits the memory for changes of one bundle that must stay in memory. They wait for other changes, or the hub must
/// know all new rows first.
///
/// All other changes are merged as they are read. The limit protects the hub from a device that lets all changes wait,
/// with large values that compress well.
struct StepMemory {
  /// The approximate memory of a step without its values, in bytes.
  private static let ofEachStep = 128
  static let usual = 1 << 30

  /// The limit, in bytes.
  let most: Int
  /// The bytes of the steps that were added since the last call of `present`.
  private var uncounted = 0

  init(most: Int) { self.most = most }

  /// The approximate memory of a step, in bytes.
  static func bytes(of step: Step) -> Int { step.byteCount + ofEachStep }

  /// Adds a step. Throws a `Refusal` if the steps in memory exceed the limit.
  /// - Parameter present: returns the bytes of all steps in memory. This takes time, so `add` calls it only after many
  ///   new bytes.
  mutating func add(_ step: Step, present: () -> Int) throws {
    uncounted += Self.bytes(of: step)
    if uncounted <= most / 16 { return }
    uncounted = 0
    if present() <= most { return }
    throw Refusal(
      .tooLarge,
      """
      Changes of the bundle wait for other changes, and need more than \(most >> 20) MiB of memory together. The last \
      one is of the table \(step.table).
      """,
      hint:
        """
        Ask the device's user for the reason. If there is none, another person may have its key: satchel-hub device \
        revoke NAME
        """,
      keeping: .quarantine)
  }
}
