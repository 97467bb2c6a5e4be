import Glibc

/// Ends the process with this exit code. Only a tool's main calls it: commands return.
public func endProcess(_ code: Int32) -> Never { exit(code) }
