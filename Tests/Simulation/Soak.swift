import TestSupport

/// Plays seasons, and makes a short story of one that goes wrong.
public enum Soak {
  /// A season that went wrong.
  public struct Finding: CustomStringConvertible {
    public let seed: UInt64
    /// The fewest events that were found to go wrong, and what is wrong then.
    public let events: [SeasonEvent]
    public let words: String
    /// What happened in it, and what came of it.
    public let story: [String]

    public var description: String {
      """
      season \(seed): \(words)
      \(story.map { "  \($0)" }.joined(separator: "\n"))
      To see it again: make soak SEASONS=1 SEED=\(seed)
      """
    }
  }

  /// Plays a season. Returns what went wrong; nil: nothing.
  public static func play(_ seed: UInt64, trace: ((String) -> Void)? = nil) -> String? {
    wrong(seed, events(of: seed), trace: trace)
  }

  private static func events(of seed: UInt64) -> [SeasonEvent] {
    // Most are short: what goes wrong needs few events, and many tries.
    SeasonEvent.season(seed, devices: Season.devices, length: seed % 8 == 0 ? 80 : 28)
  }

  private static func wrong(_ seed: UInt64, _ events: [SeasonEvent], trace: ((String) -> Void)? = nil) -> String? {
    do {
      let season = try Season(seed: seed, trace: trace)
      defer { season.end() }
      try season.play(events)
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Takes events away from a season that goes wrong for as long as it goes wrong: first halves, then ever smaller
  /// parts, in the manner of delta debugging (Zeller and Hildebrandt, 2002).
  ///
  /// - Parameter attempts: how many seasons may be played for it.
  public static func shrink(_ seed: UInt64, attempts: Int = 200) -> Finding {
    var events = events(of: seed)
    var words = wrong(seed, events) ?? "went wrong once, and not again"
    var (size, left) = (events.count / 2, attempts)
    while size > 0, left > 0 {
      var place = 0
      while place < events.count, left > 0 {
        var fewer = events
        fewer.removeSubrange(place..<min(place + size, events.count))
        left -= 1
        if let still = wrong(seed, fewer) { (events, words) = (fewer, still) } else { place += size }
      }
      size /= 2
    }
    var story: [String] = []
    _ = wrong(seed, events) { story.append($0) }
    return Finding(seed: seed, events: events, words: words, story: story)
  }
}
