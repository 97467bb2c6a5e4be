import Foundation
import TestSupport

do { try makeGolden() } catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
