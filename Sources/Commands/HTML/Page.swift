/// A whole page of HTML that loads nothing from other sites. It suits a screen, a screen reader and paper.
struct Page {
  /// The place of the style sheet.
  enum Style {
    /// In the page itself: the page is one file, without scripts.
    case inside
    /// Beside the page, with the script that makes forms more convenient.
    case beside
    /// Beside the page, which has no script.
    case besideAlone

    /// The Content-Security-Policy of the page. It allows the page's own style, and forms that return to the page's own
    /// site. Pages of a site have nothing inline: style, script and pictures come from the site. All else is forbidden.
    var policy: String {
      switch self {
      case .inside: "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'"
      case .beside:
        """
        default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'
        """
      case .besideAlone: "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'"
      }
    }

    fileprivate var head: Markup {
      switch self {
      case .inside:
        """
        <meta http-equiv="Content-Security-Policy" content="\(policy)">
        <style>\(StyleSheet.text)</style>
        """
      case .beside:
        """
        <link rel="stylesheet" href="\(Page.styleName)">
        <script src="\(Page.scriptName)" defer></script>
        """
      case .besideAlone: "<link rel=\"stylesheet\" href=\"\(Page.styleName)\">"
      }
    }
  }

  /// The addresses of the style sheet and of the script beside a page.
  static let styleName = "style.css"
  static let scriptName = "console.js"

  let title: String
  var style = Style.inside
  /// Content above the title, such as links to other pages.
  var header: Markup = ""
  let content: Markup
  /// The direction of the lines of a page.
  enum Direction {
    case leftToRight
    case rightToLeft

    fileprivate var attribute: Markup { self == .rightToLeft ? " dir=\"rtl\"" : "" }
  }

  /// The code of the language of the page, such as `en`.
  var language = "en"
  var direction = Direction.leftToRight

  var markup: Markup {
    """
    <!DOCTYPE html>
    <html lang="\(language)"\(direction.attribute)>
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    \(style.head)
    <title>\(title)</title>
    </head>
    <body>
    \(header)
    <main id="main">
    <h1>\(title)</h1>
    \(content)
    </main>
    </body>
    </html>

    """
  }
}

extension StatusSheet.Table {
  /// The table as HTML, with a caption. On a small screen each row is a card, and each cell has its title.
  func markup(caption: String) -> Markup {
    """
    <div class="wide" tabindex="0"><table>
    <caption>\(caption)</caption>
    <thead><tr>\(titles.enumerated().map(head))</tr></thead>
    <tbody>
    \(rows.map { "<tr>\($0.enumerated().map(cell))</tr>\n" as Markup })</tbody>
    </table></div>

    """
  }

  private func head(_ place: Int, _ title: String) -> Markup {
    numbers.contains(place) ? "<th scope=\"col\" class=\"number\">\(title)</th>" : "<th scope=\"col\">\(title)</th>"
  }

  private func cell(_ place: Int, _ words: String) -> Markup {
    let words = Words.clipped(words)
    if place == 0 { return "<th scope=\"row\">\(words)</th>" }
    let label: Markup = words.isEmpty || place >= titles.count ? "" : " data-label=\"\(titles[place])\""
    return numbers.contains(place) ? "<td class=\"number\"\(label)>\(words)</td>" : "<td\(label)>\(words)</td>"
  }
}
