import Foundation
import TestSupport

do {
  guard let target = ProcessInfo.processInfo.environment["SATCHEL_MAKE_GOLDEN"] else {
    throw ToolFailure("SATCHEL_MAKE_GOLDEN names no folder")
  }
  try makeGolden(into: target)
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
