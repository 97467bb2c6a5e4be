import SatchelBundle
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Selects conflicts for a list, or for one decision about all of them. A condition that is nil selects all
/// conflicts.
public struct ConflictFilter: Hashable, Sendable {
  public var states: [ConflictState] = [.open, .held]
  public var table: Name?
  public var kind: ConflictKind?
  public var user: String?
  public var device: ReplicaID?
  /// Selects conflicts that were recorded at this time or later, in milliseconds since 1970.
  public var from: Int64?
  /// Selects conflicts that were recorded before this time, in milliseconds since 1970.
  public var until: Int64?
  /// Selects conflicts that have this text in the row's key, a value of the hub or the device, the note, or the row's
  /// label. Letters from A to Z are the same in upper and lower case.
  public var text: String?
  /// Selects only the conflicts with these ids.
  public var ids: [ConflictID]?

  public init() {}

  /// The most rows that are found by the text in their label. Further rows are found by their values only.
  static let mostLabels = 10_000
}

/// A filter in the form of SQL parameters.
struct ConflictConditions {
  let filter: ConflictFilter
  /// The rows that have the filter's text in their label, as a JSON array of tables and keys. NULL if the filter has
  /// no text.
  let labelled: Value

  /// The SQL condition on a row of `satchel_conflicts`.
  static let sql = """
    state IN (SELECT value FROM json_each(:states))
      AND (:table IS NULL OR table_name = :table)
      AND (:kind IS NULL OR kind = :kind)
      AND (:user IS NULL OR user = :user)
      AND (:device IS NULL OR device = :device)
      AND (:from IS NULL OR noted >= :from)
      AND (:until IS NULL OR noted < :until)
      AND (:ids IS NULL OR id IN (SELECT value FROM json_each(:ids)))
      AND (:text IS NULL OR \(hasText))
    """

  /// The text is first searched in the whole JSON object, which is fast. Most conflicts do not have the text at all.
  private static let hasText = """
    (key LIKE :json ESCAPE '!' OR note LIKE :text ESCAPE '!'
      OR (table_name, key) IN (
        SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:labelled))
      OR hub_values LIKE :json ESCAPE '!'
        AND EXISTS (SELECT 1 FROM json_each(hub_values) AS field WHERE field.value LIKE :text ESCAPE '!')
      OR device_values LIKE :json ESCAPE '!'
        AND EXISTS (SELECT 1 FROM json_each(device_values) AS field WHERE field.value LIKE :text ESCAPE '!'))
    """

  private static func list(_ words: [String]) -> Value {
    .text(JSONValue.array(words.map { .string($0) }).compactBytes)
  }

  private static func optional(_ text: String?) -> Value { text.map { .string($0) } ?? .null }

  /// A LIKE pattern for values that contain a text.
  static func pattern(_ text: String) -> Value {
    .string("%" + text.unicodeScalars.map { "!%_".unicodeScalars.contains($0) ? "!\($0)" : "\($0)" }.joined() + "%")
  }

  /// The form that the text has inside a JSON string.
  private static func inJSON(_ text: String) -> String {
    String(decoding: JSONValue.string(text).compactBytes.dropFirst().dropLast(), as: UTF8.self)
  }

  func bind(to statement: borrowing Statement) throws {
    let values: [(String, Value)] = [
      ("states", Self.list(filter.states.map(\.rawValue))), ("table", Self.optional(filter.table?.text)),
      ("kind", Self.optional(filter.kind?.rawValue)), ("user", Self.optional(filter.user)),
      ("device", Self.optional(filter.device?.text)), ("from", filter.from.map { .integer($0) } ?? .null),
      ("until", filter.until.map { .integer($0) } ?? .null),
      ("ids", filter.ids.map { Self.list($0.map(\.text)) } ?? .null),
      ("text", filter.text.map(Self.pattern) ?? .null),
      ("json", filter.text.map { Self.pattern(Self.inJSON($0)) } ?? .null), ("labelled", labelled),
    ]
    for (name, value) in values { try statement.bind(value, to: name) }
  }
}
