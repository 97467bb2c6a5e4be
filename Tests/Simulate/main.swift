import Foundation
import Simulation
import Synchronization

// simulate seasons N [FIRST]    plays N seasons; one alone tells its story
// simulate seconds N [FIRST]    plays seasons for so long
//
// Ends with 1 where a season went wrong, which is then made as short as possible.

let words = CommandLine.arguments.dropFirst()
guard words.count >= 2, let amount = UInt64(words[2]), ["seasons", "seconds"].contains(words[1]) else {
  print("simulate seasons|seconds N [FIRST]")
  exit(2)
}
let first = words.count > 2 ? UInt64(words[3]) ?? 0 : 0
let began = Date()
let next = Atomic<UInt64>(first)
let failed = Atomic<Int>(0)

if words[1] == "seasons", amount == 1 {
  let verdict = Soak.play(first) { print($0) }
  print(verdict.map { "season \(first) went wrong: \($0)" } ?? "season \(first) went well")
  if verdict != nil { print(Soak.shrink(first)) }
  exit(verdict == nil ? 0 : 1)
}

await withTaskGroup(of: Void.self) { lanes in
  for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
    lanes.addTask {
      while true {
        let seed = next.add(1, ordering: .relaxed).oldValue
        let isOver = words[1] == "seasons" ? seed >= first + amount : Date().timeIntervalSince(began) > Double(amount)
        if isOver { return }
        guard Soak.play(seed) != nil else { continue }
        failed.add(1, ordering: .relaxed)
        print(Soak.shrink(seed))
      }
    }
  }
}
let played = words[1] == "seasons" ? amount : next.load(ordering: .relaxed) - first
print(
  "\(played) seasons in \(Int(Date().timeIntervalSince(began))) s, \(failed.load(ordering: .relaxed)) of them went wrong")
exit(failed.load(ordering: .relaxed) == 0 ? 0 : 1)
