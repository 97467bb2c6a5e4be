import Foundation

do { if try !runBench() { exit(1) } } catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
