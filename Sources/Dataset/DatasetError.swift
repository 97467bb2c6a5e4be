import SatchelValues

/// An error in a dataset's definition, with the place of the error.
public struct DatasetError: ExplainedError {
  /// The path of the faulty member, for example `tables.reviews.conflict`. Empty if the whole document is faulty.
  public let place: String
  public let problem: String
  public let hint: String?

  public init(_ place: String, _ problem: String, hint: String? = nil) {
    self.place = place
    self.problem = problem
    self.hint = hint
  }

  public var code: Reason { .datasetDefinition }
  public var message: String {
    place.isEmpty ? "The dataset's definition: \(problem)." : "The dataset's definition, at \(place): \(problem)."
  }
}

extension DatasetError {
  /// A hint about a name that does not exist: the name that was probably meant, and all existing names.
  /// - Parameter owner: the beginning of the sentence about the existing names, for example "The dataset".
  public static func hint(for wrong: Name, among names: [Name], of owner: String) -> String {
    let near =
      names.first { $0.isSameInSQL(as: wrong) }?.text ?? suggestion(for: wrong.text, among: names.map(\.text))
    let question = near.map { "Did you mean \"\($0)\"? " } ?? ""
    return question + "\(owner) has\(names.isEmpty ? " none" : ": \(names.map(\.text).joined(separator: ", "))")."
  }
}
