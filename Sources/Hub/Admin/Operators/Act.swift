import SatchelCrypto
import SatchelJSON
import SatchelValues
import Synchronization

/// The content of an act before it is numbered and signed.
public struct ActDraft: Sendable {
  /// The command, such as `conflicts resolve`.
  public let what: String
  /// The words of the command line that say what the act is about.
  public let about: [String]
  /// The reason. nil if the operator gave none.
  public let why: String?

  /// Cuts long words, and removes words beyond the first hundred.
  public init(what: String, about: [String], why: String?) {
    self.what = what
    self.about = about.prefix(100).map { String($0.unicodeScalars.prefix(200)) }
    self.why = why.map { String($0.unicodeScalars.prefix(1000)) }
  }
}

/// An act of an operator, for example a decision, a change of rights, or a revocation. It contains the digest of the
/// act before it.
public struct Act: Sendable {
  public let number: Int64
  /// Milliseconds since 1970.
  public let at: Int64
  /// The operator's name.
  public let who: String
  public let draft: ActDraft
  /// The digest of the act before this one. nil for the first act.
  let before: String?

  /// The bytes that the operator signs, as a text.
  var text: String {
    let document: JSONValue = [
      "act": 1, "number": .integer(number), "at": .integer(at), "operator": .string(who), "did": .string(draft.what),
      "about": .array(draft.about.map { .string($0) }), "why": draft.why.map { .string($0) } ?? .null,
      "before": before.map { .string($0) } ?? .null,
    ]
    return String(decoding: document.compactBytes, as: UTF8.self)
  }

  init(number: Int64, at time: Int64, who: String, draft: ActDraft, before: String?) {
    (self.number, at, self.who, self.draft, self.before) = (number, time, who, draft, before)
  }

  /// Returns nil if the text is not an act.
  init?(text: String) {
    guard let document = try? JSONValue.parse(Array(text.utf8)), document["act"]?.integerValue == 1,
      let number = document["number"]?.integerValue, let at = document["at"]?.integerValue,
      let who = document["operator"]?.stringValue, let what = document["did"]?.stringValue,
      let about = document["about"]?.arrayValue
    else { return nil }
    self.init(
      number: number, at: at, who: who,
      draft: ActDraft(what: what, about: about.compactMap(\.stringValue), why: document["why"]?.stringValue),
      before: document["before"]?.stringValue)
  }
}

/// An act that is not recorded yet. The first transaction of its command records it.
final class PendingAct: Sendable {
  let who: String
  let draft: ActDraft
  private let isRecorded = Mutex(false)

  init(by who: String, _ draft: ActDraft) {
    self.who = who
    self.draft = draft
  }

  var isDue: Bool { isRecorded.withLock { !$0 } }
  func noteRecorded() { isRecorded.withLock { $0 = true } }

  /// The note of a decision, with the name of the operator who decides.
  func signing(_ note: String?) -> String { note.map { "\(who): \($0)" } ?? who }
}

/// An act with the signature of its operator.
struct SignedAct: Sendable {
  let number: Int64
  let text: String
  /// In the format of minisign.
  let signature: String

  /// The digest of this act. The next act contains it.
  var digest: String { Digest.of(Array("\(text)\n\(signature)".utf8)).hexadecimal }

  /// The reason why this act does not continue the record. nil if it does.
  /// - Parameters:
  ///   - last: the act before this one. nil if there is none.
  ///   - keys: the operators' keys, by the operators' names.
  func fault(after last: SignedAct?, by keys: [String: PublicKey]) -> String? {
    guard number == (last?.number ?? 0) + 1 else { return "acts before it are missing." }
    guard let act = Act(text: text), act.number == number else { return "it cannot be read." }
    guard act.before == last?.digest else { return "the act before it was changed." }
    guard let key = keys[act.who] else { return "its operator is not known." }
    guard let read = try? Signature(fileBytes: Array(signature.utf8)),
      (try? key.verify(read, message: Array(text.utf8))) != nil
    else { return "its operator did not sign these words." }
    return nil
  }
}
