import SatchelJSON
import SatchelWorkspace

/// Findings that stop no command, but that people will notice later: as text, and as JSON.
enum FindingText {
  static func notes(_ findings: [Finding]) -> TerminalText {
    findings.map { ("Note: \($0.message)\n" as TerminalText) + ($0.hint.map { "  \($0)\n" } ?? "") }.joined()
  }

  static func json(_ findings: [Finding]) -> JSONValue {
    .array(findings.map { ["reason": .string($0.reason), "message": .string($0.message), "hint": .optional($0.hint)] })
  }
}
