import TestSupport

/// The writes of people.
extension Season {
  /// Keys that several devices may choose. Two of them look the same. Two others are numbers, and the longer number is
  /// the greater.
  private static let sharedKeys = ["n0", "n1", "caf\u{e9}", "cafe\u{301}", "10", "9"]

  func write(on device: FieldDevice, _ random: inout SplitMix64) throws {
    guard let app = try device.app() else { return }
    for (cell, value) in try write(app, who: device.name, &random) {
      device.duty[cell] = value.map(Self.common.contains) == true ? nil : value
    }
    for cell in device.duty.keys where try !isThere(cell, app) { device.duty[cell] = nil }
  }

  /// Whether the row of a cell exists. The user may have deleted it.
  private func isThere(_ cell: Cell, _ app: FieldApp) throws -> Bool {
    try app.database.first("SELECT 1 FROM \(cell.row.table) WHERE id = :id", ["id": .string(cell.row.id.text)]) { _ in
      true
    }
      ?? false
  }

  func writeAtHub(_ random: inout SplitMix64) throws {
    if random.once(in: 3), try visitDeletedSite(&random) { return }
    _ = try write(admin(), who: "hub", &random)
  }

  /// The office adds a visit at a site that a device has deleted. The office has not received the deletion yet.
  private func visitDeletedSite(_ random: inout SplitMix64) throws -> Bool {
    for app in try devices.compactMap({ try $0.app() }) {
      let (captured, left) = try (app.captured(), Set(app.sites().map(\.id)))
      let deleted = try admin().sites().filter {
        captured.contains(RowName(table: "sites", id: $0.id)) && !left.contains($0.id)
      }
      if deleted.isEmpty { continue }
      _ = try insertVisit(admin(), "hub", deleted, admin().visits(), &random)
      return true
    }
    return false
  }

  /// Makes one write. Returns the written cells, each with the value that must not be lost. nil: the cell has no such
  /// value any more.
  private func write(_ app: FieldApp, who: String, _ random: inout SplitMix64) throws -> [Cell: String?] {
    let (sites, visits) = try (app.sites(), app.visits())
    switch random.below(100) {
    case ..<12: return try insertSite(app, who, sites, &random)
    case ..<32: return try insertVisit(app, who, sites, visits, &random)
    case ..<70: return try setValue(app, who, sites, visits, &random)
    case ..<78:
      guard let site = sites.randomElement(using: &random) else { return [:] }
      let zone = Int64(random.below(20))
      say("\(who) moves site \(site.id) to zone \(zone)")
      try app.move(site: site.id, to: zone)
      return [:]
    case ..<86:
      guard let visit = visits.randomElement(using: &random), let site = sites.randomElement(using: &random) else {
        return [:]
      }
      say("\(who) moves visit \(visit.id) to \(site.id)")
      try app.move(visit: visit.id, to: site.id)
      return [:]
    default: return try delete(app, who, sites, visits, &random)
    }
  }

  private func key(_ random: inout SplitMix64) -> ExactText {
    random.once(in: 4) ? ExactText(random.one(of: Self.sharedKeys)) : newKey()
  }

  /// A random value. Some values are NULL. Some are values of `common`, which several people write. Every other value
  /// is written once in a season.
  private func value(_ random: inout SplitMix64) -> String? {
    switch random.below(16) {
    case 0, 1: nil
    case 2, 3: random.one(of: Self.common)
    default: newValue()
    }
  }

  private static let common = ["caf\u{e9}", "cafe\u{301}"]

  private func insertSite(_ app: FieldApp, _ who: String, _ sites: [Site], _ random: inout SplitMix64) throws -> [Cell:
    String?]
  {
    let site = Site(id: key(&random), zone: Int64(random.below(20)))
    if sites.contains(where: { $0.id == site.id }) { return [:] }
    return try fill(
      RowName(table: "sites", id: site.id), "\(who) inserts site \(site.id) in zone \(site.zone)", &random
    ) {
      try app.insert(site, name: $0, note: $1)
    }
  }

  private func insertVisit(
    _ app: FieldApp, _ who: String, _ sites: [Site], _ visits: [Visit], _ random: inout SplitMix64
  ) throws -> [Cell: String?] {
    guard let site = sites.randomElement(using: &random) else { return [:] }
    let visit = Visit(id: key(&random), site: site.id)
    if visits.contains(where: { $0.id == visit.id }) { return [:] }
    return try fill(
      RowName(table: "visits", id: visit.id), "\(who) inserts visit \(visit.id) at \(visit.site)", &random
    ) {
      try app.insert(visit, a: $0, b: $1)
    }
  }

  /// Gives a new row its values.
  private func fill(
    _ row: RowName, _ words: String, _ random: inout SplitMix64,
    insert: (_ first: String?, _ second: String?) throws -> Void
  ) throws -> [Cell: String?] {
    let (first, second) = (value(&random), value(&random))
    say("\(words): \(first ?? "-") \(second ?? "-")")
    try insert(first, second)
    let columns = FieldApp.columns[row.table] ?? []
    return Dictionary(uniqueKeysWithValues: zip(columns.map { Cell(row.table, row.id, $0) }, [first, second]))
  }

  private func setValue(
    _ app: FieldApp, _ who: String, _ sites: [Site], _ visits: [Visit], _ random: inout SplitMix64
  ) throws -> [Cell: String?] {
    let table = random.once(in: 3) ? "sites" : "visits"
    guard let id = (table == "sites" ? sites.map(\.id) : visits.map(\.id)).randomElement(using: &random) else {
      return [:]
    }
    let cell = Cell(table, id, random.one(of: FieldApp.columns[table] ?? []))
    let value = value(&random)
    say("\(who) sets \(cell) = \(value ?? "-")")
    try app.set(cell, to: value)
    return [cell: value]
  }

  private func delete(
    _ app: FieldApp, _ who: String, _ sites: [Site], _ visits: [Visit], _ random: inout SplitMix64
  ) throws -> [Cell: String?] {
    // No app deletes a site that has visits.
    let empty = sites.filter { site in !visits.contains { $0.site == site.id } }
    if random.once(in: 2), let site = empty.randomElement(using: &random) {
      say("\(who) deletes site \(site.id)")
      try app.delete(site.id, from: "sites")
    } else if let visit = visits.randomElement(using: &random) {
      say("\(who) deletes visit \(visit.id)")
      try app.delete(visit.id, from: "visits")
    }
    return [:]
  }
}
