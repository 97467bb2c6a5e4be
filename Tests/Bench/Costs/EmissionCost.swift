/// Measures bundles for many users of one region each, and for one user who sees a tenth of the rows. They are compared
/// with a loop of the script and with a minimal program in C.
func measureEmissionCost(_ hubs: SurveyHubs, isQuick: Bool) throws {
  let hub = try hubs.hub(visits: isQuick ? 20_000 : 100_000)
  try hub.addUsers()
  print("\nEmission: \(hub.visits) visits in 30 regions, medians of 5; seconds, and peak memory in MiB")
  var lines = [Comparison.heads]
  lines += try hub.emission(
    "full bundles for 25 users of a region each", full: true, to: (1...25).map { ("d\($0)", $0, $0) })
  lines += try hub.emission("bundles for 25 users, 1 % changed", full: false, to: (1...25).map { ("d\($0)", $0, $0) })
  lines += try hub.emission("full bundle of a tenth", full: true, to: [("tenth", 1, 3)])
  printTable(lines)
}

extension SurveyHub {
  /// - Parameter users: for each user, the device, the first region and the last region.
  fileprivate func emission(_ what: String, full: Bool, to users: [(device: String, first: Int, last: Int)]) throws
    -> [[String]]
  {
    var emission = Comparison(what)
    var memory = Comparison("  its memory, MiB", in: .mebibytes, atMost: 64)
    let words = (full ? "--full " : "") + users.map { "--device \($0.device)" }.joined(separator: " ")
    for _ in 0..<5 {
      if !full { try changeAtOffice(visits / 100) }
      let cost = try tool("satchel-hub -C hub emit \(words)")
      emission.add(cost.seconds)
      memory.add(cost.memory)
      let loops = users.map { (first: Self.region($0.first), last: Self.region($0.last)) }
      emission.add(
        try bash(loops.map { handEmission($0.first, $0.last, onlyNew: !full) }.joined(separator: "\n")),
        to: "script by hand, in a loop",
        atMost: users.count > 1 ? 0.15 : nil)
      guard full else { continue }
      let floors = loops.map { "./floors scope office.sqlite floor.zst \($0.first) \($0.last)" }.joined(separator: "\n")
      emission.add(
        try bash(floors), to: "C: ATTACH, INSERT SELECT, zstd, signature", atMost: users.count > 1 ? nil : 1.3)
    }
    return emission.lines() + memory.lines()
  }

  /// The script's emission. The new rows must be given to the script, because it does not record what it sent before.
  private func handEmission(_ first: String, _ last: String, onlyNew: Bool) -> String {
    """
    sqlite3 office.sqlite "SELECT json_object('id', v.id, 'household', household, 'surveyor', surveyor, 'visited', visited, 'persons', persons, 'income', income,
      'water', water, 'latitude', latitude, 'longitude', longitude, 'remark', remark, 'state', state) FROM visits v JOIN households h ON h.id = v.household
      WHERE h.region BETWEEN '\(first)' AND '\(last)'\(onlyNew ? " AND v.state = 's\(round)'" : "")" > changes.jsonl
    tar -cf - changes.jsonl | zstd -3 -q -f -o hand.tar.zst
    minisign -S -s hand.key -m hand.tar.zst -t x > /dev/null
    """
  }
}
