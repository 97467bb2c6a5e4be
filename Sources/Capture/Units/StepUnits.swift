import SatchelDataset
import SatchelSQLite
import SatchelValues

/// Groups a device's pending steps into units.
///
/// The dataset's rules say which steps of one generation are a unit: steps that one transaction wrote, or steps of a
/// row and its children. Units that wrote the same row become one unit.
public struct StepUnits {
  /// A step in a unit.
  public struct Member: Hashable, Sendable {
    /// The index of the table among the database's tables.
    public let table: Int
    public let key: RowKey
    public let generation: Generation

    public init(table: Int, key: RowKey, generation: Generation) {
      self.table = table
      self.key = key
      self.generation = generation
    }
  }

  /// A row with pending changes that is not in its table now.
  public struct Row {
    let table: Int
    let key: RowKey
    let images: [PreImage]
    let current: SatchelValues.Row?

    public init(table: Int, key: RowKey, images: [PreImage], current: SatchelValues.Row?) {
      (self.table, self.key, self.images, self.current) = (table, key, images, current)
    }
  }

  /// A reason why steps are one unit: the same captured unit, or the same parent row.
  private enum Bond: Hashable {
    case written(Generation, UnitNumber)
    case parent(ForeignKey, child: Int, Generation, [Value])
  }

  private struct Reference {
    let key: ForeignKey
    let child: Int
    let comparisons: [Comparison]
    /// The positions of the columns to which the foreign key refers, in the parent table.
    let parentColumns: [Int]
  }

  private let tables: [TrackedTable]
  private var forest = DisjointSets()
  private var nodes: [Member: Int] = [:]
  private var members: [Member] = []
  private var bonds: [Bond: Int] = [:]
  /// The references along which rows are one unit: first by the child table, then by the parent table.
  private var ofChild: [Int: [Reference]] = [:]
  private var ofParent: [Int: [Reference]] = [:]
  /// The members and the number of each unit, by the head of its set in `forest`.
  private var units: [Int: (members: [Member], number: UnitNumber)] = [:]

  /// Reads all pending steps of tables with units. Returns nil if the dataset has no such tables.
  /// - Parameters:
  ///   - first: the first generation whose steps are read.
  ///   - others: rows with pending changes that are not in their tables now.
  public init?(
    _ tables: [TrackedTable], since first: Generation, beside others: [Row] = [], in database: borrowing Database
  ) throws {
    self.tables = tables
    findReferences(in: database)
    let places = tables.indices.filter {
      tables[$0].rules.unit == .transaction || ofChild[$0] != nil || ofParent[$0] != nil
    }
    if places.isEmpty { return nil }
    for place in places {
      try PreImageStore.each(tables[place], since: first, in: database) { key, images, current in
        add(key, images, to: current, in: place)
      }
    }
    for row in others where places.contains(row.table) { add(row.key, row.images, to: row.current, in: row.table) }
    try join(since: first, in: database)
    gather()
  }

  private mutating func findReferences(in database: borrowing Database) {
    for (child, table) in tables.enumerated() {
      for key in table.unitKeys {
        guard let parent = tables.firstIndex(where: { $0.name == key.parent }) else { continue }
        let columns = key.parentColumns.compactMap { tables[parent].schema.position(of: $0) }
        if columns.count != key.parentColumns.count { continue }
        let reference = Reference(
          key: key, child: child, comparisons: database.comparisons(ofParentIn: key), parentColumns: columns)
        ofChild[child, default: []].append(reference)
        ofParent[parent, default: []].append(reference)
      }
    }
  }

  // MARK: joining

  private mutating func add(_ key: RowKey, _ images: [PreImage], to current: SatchelValues.Row?, in place: Int) {
    for (number, image) in images.enumerated() {
      let next = number + 1 < images.count ? images[number + 1] : nil
      add(key, image, to: next.map(\.row) ?? current, in: place)
    }
  }

  /// A pre-image without a change is no member of a unit, but its row still joins units.
  private mutating func add(_ key: RowKey, _ image: PreImage, to after: SatchelValues.Row?, in place: Int) {
    let member = Member(table: place, key: key, generation: image.generation)
    let node = nodes[member] ?? forest.add()
    nodes[member] = node
    if image.row != after || image.isGone { members.append(member) }
    for bond in bonds(image, to: after, in: place) { forest.join(node, self.node(of: bond)) }
  }

  private mutating func node(of bond: Bond) -> Int {
    if let node = bonds[bond] { return node }
    let node = forest.add()
    bonds[bond] = node
    return node
  }

  private func bonds(_ image: PreImage, to after: SatchelValues.Row?, in place: Int) -> [Bond] {
    let rows = [image.row, after].compactMap(\.self)
    var found: [Bond] = []
    if tables[place].rules.unit == .transaction, let unit = image.unit {
      found.append(.written(image.generation, unit))
    }
    for row in rows {
      for reference in ofChild[place] ?? [] {
        found += bond(reference, reference.key.columns.map { row[$0] }, image.generation)
      }
      for reference in ofParent[place] ?? [] {
        found += bond(reference, reference.parentColumns.map { row[$0] }, image.generation)
      }
    }
    return found
  }

  private func bond(_ reference: Reference, _ values: [Value], _ generation: Generation) -> [Bond] {
    if values.contains(where: \.isNull) { return [] }
    let folded = zip(reference.comparisons, values).map { $0.folded($1) }
    return [.parent(reference.key, child: reference.child, generation, folded)]
  }

  /// Joins the units that wrote the same row.
  private mutating func join(since first: Generation, in database: borrowing Database) throws {
    let joins = try database.all(
      "SELECT generation, unit, other FROM satchel_unit_joins WHERE generation >= :first",
      ["first": .integer(first.rawValue)]
    ) { (Generation($0.integer(0)), UnitNumber($0.integer(1)), UnitNumber($0.integer(2))) }
    for (generation, unit, other) in joins {
      forest.join(node(of: .written(generation, unit)), node(of: .written(generation, other)))
    }
  }

  /// Gives each unit its number: the least number that was recorded with the writes of its rows. A unit that only
  /// references join gets a number above all recorded numbers.
  private mutating func gather() {
    var least: [Int: UnitNumber] = [:]
    for (bond, node) in bonds {
      guard case .written(_, let number) = bond else { continue }
      let head = forest.head(of: node)
      least[head] = min(least[head] ?? number, number)
    }
    var gathered: [Int: [Member]] = [:]
    var order: [Int] = []
    for member in members {
      guard let node = nodes[member] else { continue }
      let head = forest.head(of: node)
      if gathered[head] == nil { order.append(head) }
      gathered[head, default: []].append(member)
    }
    var next = UnitNumber(UnitNumbers.largest + 1)
    for head in order {
      guard let members = gathered[head] else { continue }
      units[head] = (members, least[head] ?? next)
      if least[head] == nil { next = next.next }
    }
  }

  // MARK: queries

  /// The number of the unit to which a step belongs; nil if the step is not in a unit with other steps.
  public mutating func number(of key: RowKey, _ generation: Generation, in table: Int) -> UnitNumber? {
    guard let unit = unit(of: Member(table: table, key: key, generation: generation)).flatMap({ units[$0] }),
      unit.members.count > 1
    else { return nil }
    return unit.number
  }

  /// A step's unit, as a number that is valid only in this `StepUnits`. A step without others is a unit of its own
  /// here. nil if the table has no units.
  public mutating func unit(of member: Member) -> Int? {
    nodes[member].map { forest.head(of: $0) }
  }

  /// The steps that belong to a unit.
  public func members(of unit: Int) -> [Member] { units[unit]?.members ?? [] }
}
