import Foundation

do { try await runBench() } catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
