import Foundation
import TestSupport

/// Measures how much longer `satchel --version` takes than a program that does nothing. If `make static` made a static
/// build, this build is measured.
func measureStartCost(isQuick: Bool) throws {
  let statically = FileManager.default.currentDirectoryPath + "/.build/static/bin/satchel"
  let isStatic = FileManager.default.isExecutableFile(atPath: statically)
  let tool = isStatic ? statically : SurveyHub.tools + "/satchel"
  let times = isQuick ? 50 : 200
  var start = Comparison(
    isStatic
      ? "satchel --version, static, over /bin/true"
      : "satchel --version, DYNAMIC (make static was not run), over /bin/true",
    in: .milliseconds, atMost: 2)
  func milliseconds(_ words: String) throws -> Double {
    let script = "for (( i = 0; i < \(times); i++ )); do \(words) > /dev/null; done"
    return try seconds {
      guard try runProgram(at: "/usr/bin/bash", ["-ec", script], in: "/").status == 0 else { throw ToolFailure(words) }
    } * 1000 / Double(times)
  }
  for _ in 0..<5 {
    let nothing = try milliseconds("/bin/true")
    start.add(try milliseconds("'\(tool)' --version") - nothing)
  }
  print("\nStart: milliseconds, median of 5 times \(times) starts")
  printTable([Comparison.heads] + start.lines())
}
