import SatchelCommands
import SatchelPlatform
import SatchelValues
import Testing

@Suite("Running a command line")
struct RunningTests {
  let console = CollectingConsole()

  private func run(_ words: String, _ trace: inout Trace) -> ExitCode {
    bag.run(words.split(separator: " ").map(String.init), context: &trace, console: console) { failure, trace in
      trace.failures.append(failure)
      return failure.error is UsageError ? .usage : .failed
    }
  }

  @Test("a command runs in its context, and its exit code is the tool's")
  func runs() {
    var trace = Trace()
    #expect(run("pack a b", &trace) == .done)
    #expect(trace.calls.map(\.path) == [["pack"]])
    #expect(trace.failures.isEmpty)
    #expect(console.outText == "")
  }

  @Test("an error of a command is reported with the command's name, as JSON if requested")
  func reports() {
    var trace = Trace()
    #expect(run("refuse --json", &trace) == .failed)
    #expect(trace.failures.first?.error is Refusal)
    #expect(trace.failures.first?.command == ["refuse"])
    #expect(trace.failures.first?.json == true)
  }

  @Test("a request for JSON is recognised even if the rest is invalid")
  func reportsUsage() {
    var trace = Trace()
    #expect(run("frobnicate --json", &trace) == .usage)
    #expect(trace.failures.first?.json == true)
    #expect(trace.failures.first?.command == [])
    #expect(run("status -- --json", &trace) == .usage)
    #expect(trace.failures.last?.json == false)
  }

  @Test("a usage error of the command itself gets the usage line")
  func completes() {
    var trace = Trace()
    #expect(run("judge", &trace) == .usage)
    let error = trace.failures.first?.error as? UsageError
    #expect(error == UsageError("the value is odd", usage: "Usage: bag judge", hint: "Read 'bag help judge'."))
  }

  @Test(
    "help and version are printed, and nothing runs", arguments: ["pack --help", "help pack", "", "help", "--version"])
  func prints(words: String) {
    var trace = Trace()
    #expect(run(words, &trace) == .done)
    #expect(trace.calls.isEmpty && trace.failures.isEmpty)
    #expect(!console.outText.isEmpty)
    #expect(console.errorText == "")
  }

  @Test("the version is one line")
  func version() {
    var trace = Trace()
    _ = run("status --version", &trace)
    #expect(console.outText == "bag 1.2\n")
  }
}
