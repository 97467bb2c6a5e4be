import TestSupport

/// Plays seasons, and shortens the story of a failed season.
public enum Soak {
  /// A failed season.
  public struct Finding: CustomStringConvertible {
    public let seed: UInt64
    /// The smallest set of events that was found to fail. `words` has its fault.
    public let events: [SeasonEvent]
    public let words: String
    /// The events of the season, and their results.
    public let story: [String]

    public var description: String {
      """
      season \(seed): \(words)
      \(story.map { "  \($0)" }.joined(separator: "\n"))
      To see it again: make soak SEASONS=1 SEED=\(seed)
      """
    }
  }

  /// Plays a season. Returns its fault; nil: none.
  /// - Parameter effects: gets the kinds of events that took effect.
  public static func play(
    _ seed: UInt64, trace: ((String) -> Void)? = nil, effects: ((Set<SeasonEvent.Kind>) -> Void)? = nil
  ) -> String? {
    wrong(seed, events(of: seed), trace: trace, effects: effects)
  }

  private static func events(of seed: UInt64) -> [SeasonEvent] {
    // Most seasons are short: a failure needs only few events, and short seasons allow many tries.
    SeasonEvent.season(seed, devices: Season.devices, length: seed % 8 == 0 ? 80 : 28)
  }

  private static func wrong(
    _ seed: UInt64, _ events: [SeasonEvent], trace: ((String) -> Void)? = nil,
    effects: ((Set<SeasonEvent.Kind>) -> Void)? = nil
  ) -> String? {
    do {
      let season = try Season(seed: seed, trace: trace)
      defer {
        effects?(season.effective)
        season.end()
      }
      try season.play(events)
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Removes events from a failing season as long as the season still fails: first halves, then ever smaller parts.
  /// This is delta debugging (Zeller and Hildebrandt, 2002).
  ///
  /// - Parameter attempts: the most seasons that are played for this.
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
