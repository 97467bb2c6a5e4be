import SatchelDevice
import SatchelPlatform

extension DeviceTool {
  static var report: Command {
    ReportCommand.report(tool: name) { command, context in
      let workspace = try open(command, context)
      let status = try workspace.status()
      let clock = context.platform.clock
      let now = clock.milliseconds()
      let made = clock.localText(milliseconds: now)
      let title = "Device \(status.configuration.name) of the dataset \(status.configuration.dataset)"
      guard let current = status.current else {
        let lines = text(status, now).string.split(separator: "\n")
        let words = lines.map { StatusSheet.Fact(name: "Device", words: String($0)) }
        return Report(title: title, made: made, sheet: StatusSheet(facts: words, steps: []))
      }
      return try Report(
        title: title, made: made, sheet: StatusSheet(facts: facts(status, current, now), steps: steps(status, current)),
        sections: [
          .conflicts(now: now) {
            if current.damage.isEmpty { try workspace.eachBatchOfConflicts([.open, .held], .units, $0) }
          },
          .refused(status.quarantined), .bundles(workspace.log(limit: 100), by: clock),
        ])
    }
  }
}
