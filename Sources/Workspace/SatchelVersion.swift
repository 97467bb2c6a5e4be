/// The version of both tools.
public let satchelVersion = "0.1.0"
