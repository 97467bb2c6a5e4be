/// A whole page of HTML: no scripts, nothing from elsewhere, to be read on a screen, by a screen reader and on paper.
struct Page {
  let title: String
  /// Content above the title, such as links to other pages.
  var header: Markup = ""
  let content: Markup

  var markup: Markup {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
    <title>\(title)</title>
    <style>\(Self.style)</style>
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

  /// Allows the page's own style, and forms that return to the page's own site. It allows nothing else.
  static let policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'"

  private static let style: Markup = """
    :root { color-scheme: light; }
    body { font: 1rem/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff; margin: 0 auto; max-width: 78rem; padding: 0 1rem 3rem; }
    h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
    a { color: #0b4f9e; }
    a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible { outline: 3px solid #b35900; outline-offset: 2px; }
    .wide { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; }
    caption { text-align: left; font-weight: 600; padding: .3rem 0; }
    th, td { border: 1px solid #8a8a8a; padding: .3rem .6rem; min-width: 5.5rem; box-sizing: border-box; text-align: left; vertical-align: top; overflow-wrap: anywhere; white-space: pre-wrap; }
    th { background: #efefef; overflow-wrap: normal; }
    td.number { text-align: right; white-space: nowrap; }
    .differs { background: #fff1c9; font-weight: 600; }
    .differs::before { content: "\\2260\\00a0"; }
    .notice { border-left: .4rem solid #0b4f9e; padding: .4rem .8rem; background: #eaf2fb; }
    .warning { border-left: .4rem solid #a30000; padding: .4rem .8rem; background: #fbeaea; }
    nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; }
    .skip:not(:focus) { position: absolute; left: -100rem; }
    form { margin: .6rem 0; } fieldset { border: 1px solid #8a8a8a; margin: .6rem 0; }
    label { display: inline-block; margin: .2rem .6rem .2rem 0; }
    input, select, button { font: inherit; padding: .25rem .5rem; max-width: 100%; }
    button { background: #0b4f9e; color: #fff; border: 1px solid #0b4f9e; border-radius: .2rem; cursor: pointer; }
    @media print { nav, form { display: none; } body { max-width: none; } tr { break-inside: avoid; } a { color: inherit; text-decoration: none; } }
    """
}

extension StatusSheet.Table {
  /// The table as HTML, with a caption.
  func markup(caption: String) -> Markup {
    """
    <div class="wide" tabindex="0"><table>
    <caption>\(caption)</caption>
    <thead><tr>\(titles.map { "<th scope=\"col\">\($0)</th>" as Markup })</tr></thead>
    <tbody>
    \(rows.map { "<tr>\($0.enumerated().map(cell))</tr>\n" as Markup })</tbody>
    </table></div>

    """
  }

  private func cell(_ place: Int, _ words: String) -> Markup {
    let words = Words.clipped(words)
    if numbers.contains(place) { return "<td class=\"number\">\(words)</td>" }
    return place == 0 ? "<th scope=\"row\">\(words)</th>" : "<td>\(words)</td>"
  }
}
