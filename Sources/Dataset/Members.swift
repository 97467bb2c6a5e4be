import SatchelJSON
import SatchelValues

/// Reads the members of one object of the definition. Its errors name the place of the member.
struct Members {
  private let here: String
  private let object: [JSONValue.Member]

  init(_ value: JSONValue, at place: String, known: [String]) throws(DatasetError) {
    guard let object = value.objectValue else { throw DatasetError(place, "it must be an object, { ... }") }
    here = place
    self.object = object
    let known = known + [Self.comment]
    for member in object where !known.contains(where: { Name($0) == Name(member.name) }) {
      let near = suggestion(for: member.name, among: known).map { "Did you mean \"\($0)\"? " } ?? ""
      throw DatasetError(
        self.place(member.name), "this version of Satchel knows no such member",
        hint: "\(near)Allowed here: \(known.joined(separator: ", ")).")
    }
    _ = try optionalString(Self.comment)
  }

  /// The member for an author's remark. Satchel ignores it.
  private static let comment = "comment"

  func place(_ name: String) -> String { here.isEmpty ? name : "\(here).\(name)" }

  subscript(_ name: String) -> JSONValue? { object.first { Name($0.name) == Name(name) }?.value }

  func string(_ name: String) throws(DatasetError) -> String {
    guard let text = try optionalString(name) else { throw DatasetError(place(name), "it is missing") }
    return text
  }

  func optionalString(_ name: String) throws(DatasetError) -> String? {
    guard let value = self[name] else { return nil }
    guard let text = value.stringValue else { throw DatasetError(place(name), "it must be a text, \"...\"") }
    return text
  }

  func integer(_ name: String) throws(DatasetError) -> Int64 {
    guard let value = self[name] else { throw DatasetError(place(name), "it is missing") }
    guard let number = value.integerValue else { throw DatasetError(place(name), "it must be a whole number") }
    return number
  }

  func members(_ name: String) throws(DatasetError) -> [JSONValue.Member] {
    guard let value = self[name] else { return [] }
    guard let members = value.objectValue else { throw DatasetError(place(name), "it must be an object, { ... }") }
    return members
  }

  func word<Word: RawRepresentable & CaseIterable>(_ name: String, of: Word.Type) throws(DatasetError) -> Word?
  where Word.RawValue == String {
    guard let text = try optionalString(name) else { return nil }
    guard let word = Word(rawValue: text) else {
      // No suggestion for short words, because most of them are similar to each other.
      let near = text.count > 4 ? suggestion(for: text, among: Word.allCases.map(\.rawValue)) : nil
      throw DatasetError(
        place(name), "\"\(text)\" is not \(oneOf(Word.allCases))", hint: near.map { "Did you mean \"\($0)\"?" })
    }
    return word
  }
}

func oneOf<Word: RawRepresentable>(_ words: some Collection<Word>) -> String where Word.RawValue == String {
  words.map(\.rawValue).joined(separator: ", ")
}
