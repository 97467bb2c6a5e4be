import Glibc

/// Ends the process with this exit code. Only the main function of a tool calls this; commands return.
public func endProcess(_ code: Int32) -> Never { exit(code) }
