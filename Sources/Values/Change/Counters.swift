/// A whole number with its own type, so that it cannot be confused with numbers of another meaning.
public protocol Counter: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible
where RawValue == Int64 {
  init(rawValue: Int64)
}

extension Counter {
  public init(_ number: Int64) { self.init(rawValue: number) }
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  public static var zero: Self { Self(rawValue: 0) }
  public var next: Self { Self(rawValue: rawValue + 1) }
  public var description: String { String(rawValue) }
}

/// The number of a device's export: 1, 2, 3, ...; 0 before the first export.
public struct SequenceNumber: Counter {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// The sequence of the last export at the time of a write.
public struct Generation: Counter {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// The number of a bundle that the hub made for one device: 1, 2, 3, ...; 0 before the first bundle.
public struct EmissionNumber: Counter {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// The number of a unit in one generation of a device.
public struct UnitNumber: Counter {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// The hub's counter of committed row changes. It never leaves the hub.
public struct Cursor: Counter {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
}
