/// Assigns words to arguments by position. A list gets all words that the other arguments do not need.
func assign(_ words: [String], to arguments: [ArgumentSpec]) throws(UsageError) -> [String: [String]] {
  var left = words[...]
  var neededLater = arguments.reduce(0) { $0 + $1.arity.minimum }
  var assigned: [String: [String]] = [:]
  for argument in arguments {
    neededLater -= argument.arity.minimum
    let most = argument.arity.isList ? Int.max : 1
    let count = max(argument.arity.minimum, min(most, left.count - neededLater))
    if count > left.count { throw UsageError("the argument \(argument.name) is missing") }
    assigned[argument.name] = Array(left.prefix(count))
    left = left.dropFirst(count)
  }
  if let surplus = left.first { throw UsageError("the argument '\(surplus)' is one too many") }
  return assigned
}
