import SatchelValues

/// What is wrong with a dataset's definition, and where in it.
public struct DatasetError: ExplainedError {
  /// The path to the member, such as `tables.reviews.conflict`; empty for the document as a whole.
  public let place: String
  public let problem: String
  public let hint: String?

  public init(_ place: String, _ problem: String, hint: String? = nil) {
    self.place = place
    self.problem = problem
    self.hint = hint
  }

  public var reason: String { "dataset-definition" }
  public var message: String {
    place.isEmpty ? "The dataset's definition: \(problem)." : "The dataset's definition, at \(place): \(problem)."
  }
}
