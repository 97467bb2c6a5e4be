import Foundation
import SatchelPlatform
import TestSupport

// Reads mutated bundles: `mutate COUNT SEED BUNDLE...`. Prints the results. Fails if a bundle took longer than a
// second, or if files were left behind. Also fails if the process needed more than 64 MiB of memory (or
// SATCHEL_MEBIBYTES). Each input is written to a file before it is read, so that a crash leaves it and its seed.

/// The peak memory of this program, in KiB. `getrusage` is not used, because it also counts the process that started
/// this one.
func peakKibibytes() throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return line.flatMap { Int($0.filter(\.isNumber)) } ?? .max
}

/// The processor time of this process, in seconds. Time that other processes use does not count.
func worked() -> Double {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
}

let words = Array(CommandLine.arguments.dropFirst())
func contents(_ paths: some Sequence<String>) throws -> [[UInt8]] {
  try paths.map { [UInt8](try Data(contentsOf: URL(filePath: $0))) }
}

// `mutate --seeds FOLDER BUNDLE...` writes the first inputs for the fuzzer. In each input, the first byte chooses the
// surface.
if words.count > 2, words[0] == "--seeds" {
  for (number, seed) in try FuzzRoom().seeds(bundles: contents(words[2...])).enumerated() {
    try Data([seed.surface.rawValue] + seed.bytes).write(to: URL(filePath: "\(words[1])/seed-\(number)"))
  }
  exit(0)
}
guard words.count > 2, let count = Int(words[0]), let seed = UInt64(words[1]) else {
  FileHandle.standardError.write(Data("usage: mutate COUNT SEED BUNDLE...\n".utf8))
  exit(2)
}
let room = try FuzzRoom()
let seeds = try room.seeds(bundles: contents(words[2...]))
let surfaces = FuzzSurface.allCases.map { surface in seeds.filter { $0.surface == surface }.map(\.bytes) }
let base = try peakKibibytes()
var slowest = 0.0
for number in 0..<count {
  var mutator = Mutator(seed: seed &+ UInt64(number))
  let surface = FuzzSurface.allCases[number % FuzzSurface.allCases.count]
  let known = surfaces[Int(surface.rawValue)]
  let bytes = mutator.mutate(
    known[mutator.number(below: known.count)], with: known[mutator.number(below: known.count)])
  let begin = worked()
  do { try room.read(bytes, at: surface) } catch {
    print("\(surface) of seed \(seed &+ UInt64(number)): \(error)")
    exit(1)
  }
  slowest = max(slowest, worked() - begin)
}
let peak = try peakKibibytes()
print(
  """
  \(count) mutated: \(room.taken) taken, \(room.refused) refused; the slowest took \(slowest) s, at most \
  \(peak >> 10) MiB (\((peak - base) >> 10) MiB for reading)
  """
)
let mebibytes = mebibytesAllowed(usually: 64)
exit(slowest < 1 && peak < mebibytes << 10 ? 0 : 1)
