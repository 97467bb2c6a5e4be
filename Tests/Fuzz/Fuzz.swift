import TestSupport

/// libFuzzer calls this function with each input. The first byte chooses the surface that reads the rest.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let first = bytes.first, let surface = FuzzSurface(rawValue: first % UInt8(FuzzSurface.allCases.count)) else {
    return 0
  }
  do { try Room.shared.read(Array(bytes.dropFirst()), at: surface) } catch { fatalError("\(surface): \(error)") }
  return 0
}

/// libFuzzer makes all calls from one thread, one after the other.
private enum Room {
  nonisolated(unsafe) static let shared: FuzzRoom = {
    do { return try FuzzRoom() } catch { fatalError("\(error)") }
  }()
}
