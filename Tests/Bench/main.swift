import Foundation

do { try runBench() } catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
