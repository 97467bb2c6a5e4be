import SatchelPlatform

/// The pages of the console. Each page has links to all of them, and marks the link to itself.
enum ConsolePlace: CaseIterable {
  case overview, sticks, conflicts, rows, scopes, devices, users, bundles, dataset, upkeep

  var address: String {
    switch self {
    case .overview: "./"
    case .sticks: "sticks"
    case .conflicts: "conflicts"
    case .rows: "rows"
    case .scopes: "scopes"
    case .bundles: "bundles"
    case .devices: "devices"
    case .users: "users"
    case .dataset: "dataset"
    case .upkeep: "upkeep"
    }
  }

  fileprivate var words: String {
    switch self {
    case .overview: "Overview"
    case .sticks: "Sticks"
    case .conflicts: "Conflicts"
    case .rows: "Rows"
    case .scopes: "Who sees what"
    case .bundles: "Bundles"
    case .devices: "Devices"
    case .users: "Users"
    case .dataset: "Dataset"
    case .upkeep: "Upkeep"
    }
  }
}

extension ConsoleSite {
  /// A page with links to all other pages. All pages are in one folder, below the session's secret, so a link names
  /// only the page.
  /// - Parameters:
  ///   - place: the link that is marked; nil: none.
  ///   - open: the number of open conflicts; nil: it is not shown.
  static func frame(
    _ title: String, _ content: Markup, at place: ConsolePlace? = nil, open: Int64? = nil, status: Int = 200
  ) -> WebResponse {
    let links = ConsolePlace.allCases.map { link -> Markup in
      let current: Markup = link == place ? " aria-current=\"page\"" : ""
      let count: Markup =
        link == .conflicts && open ?? 0 > 0 ? " <span class=\"count\">\(open ?? 0) open</span>" : ""
      return "<li><a href=\"\(link.address)\"\(current)>\(link.words)</a>\(count)</li>\n"
    }
    let header: Markup = """
      <a class="skip" href="#main">To the content</a>
      <header class="top"><nav aria-label="Pages"><ul>
      \(links)</ul></nav></header>
      """
    return .page(Page(title: title, style: .beside, header: header, content: content), status: status)
  }

  /// The answer to a request for an address at which there is no page.
  static var nowhere: WebResponse {
    frame("There is no such page", "<p><a class=\"button\" href=\"./\">To the overview</a></p>", status: 404)
  }

  /// Links to the pages before and after a page of a list; empty if the list has one page.
  /// - Parameters:
  ///   - address: the list's address, which ends where the number of a page follows.
  ///   - what: the things in the list, such as `conflicts`.
  static func paging(_ page: Int64, of pages: Int64, _ address: String, what: String) -> Markup {
    if pages <= 1 { return "" }
    func link(_ page: Int64, _ words: String, _ rel: String) -> Markup {
      "<li><a class=\"button\" rel=\"\(rel)\" href=\"\(address)\(page)\">\(words)</a></li>"
    }
    let earlier = page > 1 ? link(page - 1, "Page before", "prev") : ""
    let later = page < pages ? link(page + 1, "Next page", "next") : ""
    return "<nav aria-label=\"More \(what)\"><ul>\(earlier)\(later)</ul></nav>"
  }
}

/// The part of a list that one page shows.
struct PageOfList<Element> {
  let items: ArraySlice<Element>
  /// The number of the page, counted from 1.
  let number: Int64
  /// The number of all pages.
  let count: Int64

  /// - Parameter size: the most items of a page.
  init(_ list: [Element], by size: Int, for request: WebRequest) {
    count = Int64(list.count).pages(of: Int64(size))
    number = min(request.page, count)
    items = list.dropFirst(Int(number - 1) * size).prefix(size)
  }

  /// An example: `page 2 of 3`.
  var words: String { "page \(number) of \(count)" }
}

extension Int64 {
  /// The number of pages for this number of items, at least 1.
  func pages(of size: Int64) -> Int64 { Swift.max(1, (self + size - 1) / size) }
}
