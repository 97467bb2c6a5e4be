import SatchelCrypto
import SatchelPlatform
import SatchelValues
import Synchronization

/// A clock that advances only when a test says so.
public final class SetClock: WallClock {
  private let now: Mutex<Int64>

  /// - Parameter start: milliseconds since 1970; the default is 2026-01-31T08:05:09Z.
  public init(_ start: Int64 = 1_769_846_709_000) { now = Mutex(start) }

  /// A clock after today. Triggers use SQLite's own clock, so a test's writes at a hub must not be ahead of this clock.
  public static var laterThanToday: SetClock { SetClock(4_102_444_800_000) }

  /// A clock for tests that also run programs, because these programs use the system's clock.
  public static var today: SetClock { SetClock(SystemClock().milliseconds()) }

  public func milliseconds() -> Int64 { now.withLock { $0 } }
  public func pause(milliseconds: Int64) { advance(by: milliseconds) }
  public func advance(by milliseconds: Int64) { now.withLock { $0 += milliseconds } }
}

/// Ids and keys from a seed: the same in every run.
public final class SeededRandom: RandomSource {
  private let generator: Mutex<SplitMix64>

  public init(_ seed: UInt64) { generator = Mutex(SplitMix64(seed: seed)) }

  public func bytes(_ count: Int) -> [UInt8] {
    generator.withLock { generator in (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 33) } }
  }
}

extension Platform {
  /// Real files, with a clock and random numbers that a test controls.
  public static func still(seed: UInt64 = 1, clock: SetClock = SetClock()) -> Platform {
    Platform(files: HostFileSystem(), clock: clock, random: SeededRandom(seed))
  }
}

extension SigningKey {
  /// A key that is the same in every run. It is no secret: its seed is here.
  public static func testKey(_ number: UInt8 = 1, seed: UInt8? = nil) -> SigningKey {
    let id = KeyID(bytes: [UInt8](repeating: number, count: KeyID.size))
    // This id is never nil, because it has the required eight bytes.
    return generate(seed: (0..<32).map { $0 &* 7 &+ (seed ?? number) }, keyID: id!)
  }
}

/// Makes names of folders that no two tests share.
struct NameOfFolder: Identifier {
  let text: String
  init(unchecked text: String) { self.text = text }
}
