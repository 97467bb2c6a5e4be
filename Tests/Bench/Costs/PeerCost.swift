import Foundation

/// Measures tools that find changes by comparing two files. Satchel's triggers have already recorded the changes.
func measurePeerCost(_ hubs: SurveyHubs, _ peers: Peers, isQuick: Bool) throws {
  let cases = isQuick ? [(20_000, 200, 0.3)] : [(100_000, 1_000, 0.3), (1_000_000, 1_000, 0.05)]
  print(
    """
    \nBeside tools that compare files: seconds, medians of 5; so many visits changed on each side, others at the \
    office
    """
  )
  for (visits, count, limit) in cases {
    let hub = try hubs.hub(visits: visits)
    printTable([Comparison.heads] + (try hub.compare("\(count) of \(visits)", count, geodiffLimit: limit, peers)))
    fflush(nil)
  }
}

extension SurveyHub {
  fileprivate func compare(_ rest: String, _ count: Int, geodiffLimit: Double, _ peers: Peers) throws -> [[String]] {
    var cycle = Comparison("whole cycle, \(rest)")
    var exported = Comparison("export, \(rest)")
    for _ in 0..<5 {
      let onTablet = try changeOnTablet(count)
      let atOffice = try changeAtOffice(count, from: "DESC")
      let out = try export().seconds
      let rest = [try hubImport(), try emit(), try deviceImport()]
      exported.add(out)
      cycle.add(rest.reduce(out) { $0 + $1.seconds })
      try bash(
        """
        cp plain.sqlite theirs-office.sqlite; cp plain.sqlite theirs-tablet.sqlite
        sqlite3 theirs-office.sqlite "\(atOffice)"; sqlite3 theirs-tablet.sqlite "\(onTablet)"
        """)
      let diff = "sqldiff --primarykey --table visits --changeset sqldiff.changes plain.sqlite theirs-tablet.sqlite"
      exported.add(peers.has(.sqldiff) ? try bash(diff) : nil, to: "sqldiff --changeset")
      cycle.add(
        try peers.time(.pygeodiff, "cycle plain.sqlite theirs-office.sqlite theirs-tablet.sqlite", in: root),
        to: "geodiff: diff, rebase, apply, both ways", atMost: geodiffLimit)
    }
    return cycle.lines() + exported.lines()
  }
}
