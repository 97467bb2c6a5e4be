/// Measures two costs: proving that both sides have the same rows, and sending with each line the versions that the row
/// may have.
func measureProofCost(_ hubs: SurveyHubs, isQuick: Bool) throws {
  let visits = isQuick ? 100_000 : 1_000_000
  let hub = try hubs.hub(visits: visits)
  print("\nProof of equality: \(visits) visits, medians of 3; seconds")
  var lines = [Comparison.heads]
  lines += try hub.proof(atMost: Double(visits) * 3e-6)
  printTable(lines)
  print(
    """
    \nWhat a row must be: \(visits) visits, 10 % changed at the office, the best of 5; seconds with it and without it
    """
  )
  lines = [["what", "with", "without", "ratio", "limit", ""]]
  lines += try hub.witness()
  printTable(lines)
}

extension SurveyHub {
  /// An export with digests of all rows, and its import, which compares them. The cost of the digests alone is the
  /// difference to an export of the same size without digests.
  fileprivate func proof(atMost limit: Double) throws -> [[String]] {
    var export = Comparison("export with digests of all rows", atMost: limit)
    var check = Comparison("  its import, which compares them", atMost: 2 * limit)
    var made = Comparison("  the digests of the device alone", atMost: limit)
    var compared = Comparison("  the digests of the hub alone", atMost: limit)
    // The device sends digests only after the hub has announced that it reads them.
    try changeAtOffice(1)
    _ = try emit()
    _ = try deviceImport()
    for _ in 0..<3 {
      let without = try times(of: "export")
      let with = try times(of: "export --prove")
      export.add(with.export)
      check.add(with.check)
      made.add(with.export - without.export)
      compared.add(with.check - without.check)
    }
    return [export, made, check, compared].flatMap { $0.lines() }
  }

  /// The seconds of an export with one change, and of its import.
  private func times(of command: String) throws -> (export: Double, check: Double) {
    try changeOnTablet(1)
    let seconds = try tool("satchel -C tablet \(command)").seconds
    try bash("cp $(ls -t tablet/bundles/outbox/*.satchel | head -1) carried.satchel")
    return (seconds, try hubImport().seconds)
  }

  /// Emission and device import of changed rows, with and without the expected versions of each row.
  ///
  /// Other work on the machine only adds time, so the shortest of five times is the best estimate. The copy of the
  /// device is synced before its import begins. Otherwise the import would wait for the copy.
  fileprivate func witness() throws -> [[String]] {
    // The times by command, and in each command by whether the versions are sent.
    var times: [[[Double]]] = [[[], []], [[], []]]
    for round in 0..<10 {
      let place = round % 2
      try changeOnTablet(1)
      _ = try export()
      _ = try hubImport()
      if place == 1 { try bash("sqlite3 office.sqlite \"UPDATE satchel_devices SET understands = ''\"") }
      try changeAtOffice(visits / 10)
      times[0][place].append(try emit().seconds)
      // The hub does not know a bundle that was signed again. Therefore copies of the device import it.
      try bash("rm -rf twin; cp -a tablet twin; cp back.satchel blind.satchel")
      if place == 1 { try makeBundleBlind() }
      try bash("sync -f twin")
      times[1][place].append(try tool("satchel -C twin import \"$PWD/blind.satchel\"").seconds)
      _ = try deviceImport()
    }
    return zip(["emit", "device import"], times).map { name, times in
      let (with, without) = (times[0].min() ?? .nan, times[1].min() ?? .nan)
      let ratio = with / without
      return [name, decimal(with, 3), decimal(without, 3), decimal(ratio, 2), "1.1", Comparison.verdict(ratio <= 1.1)]
    }
  }
}
