import Foundation
import TestSupport
import Testing

@Test("50,000 mutated bundles: no crash, no hang, nothing left behind, and no more memory than 64 MiB")
func mutations() throws {
  let bundles = try FileManager.default.contentsOfDirectory(atPath: PackageFolder.file("bundles").path)
    .filter { $0.hasSuffix(".satchel") }.sorted()
  let program = builtProgram("mutate")
  let result = try runProgram(at: program, ["50000", "1"] + bundles, in: PackageFolder.file("bundles").path)
  #expect(result.status == 0, "\(result.text)\(result.complaint)")
  #expect(result.text.hasPrefix("50000 mutated: "))
}
