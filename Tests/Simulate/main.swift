import Foundation
import Simulation
import Synchronization

// simulate seasons N [FIRST]    plays N seasons; a single season prints its story
// simulate seconds N [FIRST]    plays seasons for N seconds
// simulate hunt N [FIRST]       plays at most N seasons, until one fails
//
// If a season fails, it is shortened as far as possible, and the exit code is 1. A hunt has the exit code 1 if no
// season fails.

let words = CommandLine.arguments.dropFirst()
guard words.count >= 2, let amount = UInt64(words[2]), ["seasons", "seconds", "hunt"].contains(words[1]) else {
  print("simulate seasons|seconds|hunt N [FIRST]")
  exit(2)
}
let mode = words[1]
let first = words.count > 2 ? UInt64(words[3]) ?? 0 : 0

if mode == "seasons", amount == 1 {
  let verdict = Soak.play(first) { print($0) }
  print(verdict.map { "season \(first) went wrong: \($0)" } ?? "season \(first) went well")
  if verdict != nil { print(Soak.shrink(first)) }
  exit(verdict == nil ? 0 : 1)
}

let began = Date()
let next = Atomic<UInt64>(first)
let failed = Mutex<(count: Int, words: String)>((0, ""))
let effects = Mutex<[String: Int]>([:])

await withTaskGroup(of: Void.self) { lanes in
  for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
    lanes.addTask {
      while true {
        let seed = next.add(1, ordering: .relaxed).oldValue
        let isOver = mode == "seconds" ? Date().timeIntervalSince(began) > Double(amount) : seed >= first + amount
        if isOver || mode == "hunt" && failed.withLock({ $0.count > 0 }) { return }
        let wrong = Soak.play(
          seed, effects: { kinds in effects.withLock { for kind in kinds { $0[kind.rawValue, default: 0] += 1 } } })
        guard let wrong else { continue }
        failed.withLock {
          $0 = ($0.count + 1, "season \(seed): \(wrong.split(separator: "\n", maxSplits: 1)[0].prefix(100))")
        }
        if mode != "hunt" { print(Soak.shrink(seed)) }
      }
    }
  }
}
let result = failed.withLock { $0 }
if mode == "hunt" {
  print(result.count > 0 ? result.words : "nothing found in \(amount) seasons")
  exit(result.count > 0 ? 0 : 1)
}
let played = mode == "seasons" ? amount : next.load(ordering: .relaxed) - first
print("\(played) seasons in \(Int(Date().timeIntervalSince(began))) s, \(result.count) of them went wrong")
let counts = effects.withLock { $0 }.sorted { $0.key < $1.key }
print("so many of them had: \(counts.map { "\($0.key) \($0.value)" }.joined(separator: ", "))")
exit(result.count == 0 ? 0 : 1)
