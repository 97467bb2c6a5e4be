/// The style sheet of all pages. It has a scale of sizes and spaces, light and dark colours, a form for paper, and
/// cards in place of tables on small screens. It uses logical directions, so it also fits pages from right to left.
enum StyleSheet {
  static let text: Markup = """
    \(colours)
    \(basics)
    \(tables)
    \(parts)
    \(forms)
    \(small)
    \(paper)
    """

  private static let colours: Markup = """
    :root { color-scheme: light dark; --s1: .25rem; --s2: .5rem; --s3: 1rem; --s4: 1.5rem; --s5: 2.5rem;
      --small: .875rem; --big: 1.2rem; --huge: 1.75rem; --round: .4rem;
      --ground: #fff; --raised: #f4f6f8; --line: #cdd3da; --edge: #6d7682; --text: #1b1f24; --quiet: #525b67;
      --link: #0b4f9e; --main: #0b4f9e; --on: #fff; --focus: #b35900; --good: #17693a; --warn: #8a5000;
        --bad: #a30000;
      --pale-good: #e6f4ea; --pale-warn: #fff2cf; --pale-bad: #fce9e9; --pale-link: #e8f1fb; }
    @media screen and (prefers-color-scheme: dark) { :root {
      --ground: #14171b; --raised: #1e2329; --line: #3a424c; --edge: #8d97a4; --text: #e8ebef; --quiet: #a9b3bf;
      --link: #8ec1ff; --main: #2f6fc4; --focus: #ffb257; --good: #7fd69d; --warn: #f0bd6a; --bad: #ff9c95;
      --pale-good: #173526; --pale-warn: #3d3010; --pale-bad: #451f1e; --pale-link: #172b42; } }
    """

  private static let basics: Markup = """
    body { font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--ground); margin: 0 auto;
      max-width: 78rem; padding: 0 var(--s3) var(--s5); }
    h1 { font-size: var(--huge); line-height: 1.2; margin: var(--s4) 0 var(--s3); }
    h2 { font-size: var(--big); margin: var(--s5) 0 var(--s2); }
    h1, h2, p, li, dd { overflow-wrap: anywhere; }
    p, ul, ol { margin: var(--s2) 0; } a { color: var(--link); } small, .quiet { color: var(--quiet);
      font-size: var(--small); }
    code { background: var(--raised); padding: 0 var(--s1); border-radius: var(--s1); overflow-wrap: anywhere; }
    pre { white-space: pre-wrap; overflow-wrap: anywhere; }
    :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
    .skip:not(:focus), .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden;
      clip-path: inset(50%); white-space: nowrap; }
    [hidden] { display: none !important; }
    .top { border-block-end: 1px solid var(--line); padding-block: var(--s2); }
    nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: var(--s1) var(--s3); padding: 0; margin: 0; }
    nav a { display: inline-block; padding: var(--s1) 0; }
    nav a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none;
      border-block-end: 3px solid var(--main); }
    .languages a { padding: var(--s3) var(--s2); } summary { padding-block: var(--s2); }
    .count { background: var(--pale-bad); color: var(--bad); border-radius: 1rem; padding: 0 var(--s2);
      font-size: var(--small); font-weight: 600; }
    """

  private static let tables: Markup = """
    .wide { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; margin: var(--s2) 0 var(--s3); }
    caption { text-align: start; font-weight: 600; padding-block: var(--s1); }
    th, td { border-block-end: 1px solid var(--line); padding: var(--s2); text-align: start; vertical-align: top;
      overflow-wrap: anywhere; white-space: pre-wrap; unicode-bidi: plaintext; }
    thead th { color: var(--quiet); font-size: var(--small); border-block-end-color: var(--edge);
      overflow-wrap: normal; }
    tbody th small { display: block; font-weight: 400; } .number { text-align: end; white-space: nowrap; }
    .differs { background: var(--pale-warn); font-weight: 600; }
    .differs::before { content: "\\2260\\00a0"; }
    ins { background: var(--pale-good); color: var(--good); text-decoration: underline; }
    del { background: var(--pale-bad); color: var(--bad); text-decoration: line-through; }
    """

  private static let parts: Markup = """
    .notice, .warning, .card { border-inline-start: .4rem solid var(--link); border-radius: var(--round);
      padding: var(--s2) var(--s3);
      background: var(--pale-link); margin: var(--s2) 0; overflow-wrap: anywhere; }
    .warning, .card.bad { border-color: var(--bad); background: var(--pale-bad); }
    .card.warn { border-color: var(--warn); background: var(--pale-warn); }
    .card.good { border-color: var(--good); background: var(--pale-good); }
    .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: var(--s3);
      padding: 0; list-style: none; }
    .card { margin: 0; display: flex; flex-direction: column; gap: var(--s1); }
    .card h3, .card p { margin: 0; font-size: 1rem; } .card b { font-size: var(--huge); line-height: 1.1; }
    .card .button { margin-block-start: auto; align-self: start; }
    meter { width: 7rem; vertical-align: middle; }
    figure { margin: var(--s2) 0; } svg { max-width: 100%; height: auto; overflow: visible; }
    svg text { fill: var(--quiet); font-size: 11px; } .bars rect { fill: var(--main); } .axis { stroke: var(--edge); }
    .shape { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; }
    .before { stroke: var(--edge); stroke-dasharray: 2 4; } .hub { stroke: var(--link); } .device {
      stroke: var(--warn); stroke-dasharray: 8 3; }
    .map { width: 20rem; background: var(--raised); border: 1px solid var(--line); }
    img { max-width: 14rem; max-height: 14rem; display: block; border: 1px solid var(--line); }
    details { margin: var(--s2) 0; } summary { cursor: pointer; color: var(--link); }
    dl { display: grid; grid-template-columns: minmax(6rem, auto) 1fr; gap: var(--s1) var(--s3); }
    dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap;
      unicode-bidi: plaintext; }
    .line { list-style: none; padding-inline-start: var(--s3); border-inline-start: 3px solid var(--line); }
    .line li { margin-block: var(--s3); }
    """

  private static let forms: Markup = """
    form { margin: var(--s2) 0; } fieldset { border: 1px solid var(--line); border-radius: var(--round);
      margin: var(--s2) 0; }
    label { display: inline-block; }
    .filter { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s3); align-items: end; background: var(--raised);
      padding: var(--s2) var(--s3); border-radius: var(--round); }
    .filter label { color: var(--quiet); font-size: var(--small); } .filter label > * { display: block;
      max-width: 13rem; }
    input, select, button, textarea { font: inherit; color: inherit; background: var(--ground);
      border: 1px solid var(--edge);
      border-radius: var(--round); padding: var(--s1) var(--s2); max-width: 100%; box-sizing: border-box; }
    input[type=checkbox], input[type=radio] { width: 1.1rem; height: 1.1rem; accent-color: var(--main); }
    button, .button { display: inline-block; padding: var(--s1) var(--s3); cursor: pointer; color: var(--link);
      background: var(--ground);
      border: 1px solid currentColor; border-radius: var(--round); text-decoration: none; font-weight: 600; }
    button.main, .button.main { background: var(--main); color: #fff; border-color: var(--main); }
    button.big, .button.big { font-size: var(--big); padding: var(--s3) var(--s4); overflow-wrap: anywhere; }
    button:hover, .button:hover { text-decoration: underline; }
    .bar { position: sticky; inset-block-end: 0; display: flex; flex-wrap: wrap; gap: var(--s2); align-items: center;
      background: var(--ground); border-block-start: 1px solid var(--line); padding-block: var(--s2); }
    .differs:has(.pick)::before { content: none; } .differs .pick::after { content: " \\2260"; }
    del + ins { margin-inline-start: .2em; }
    .pick { display: block; cursor: pointer; border-radius: var(--round); padding: var(--s1);
      border: 1px solid transparent; }
    .pick:hover { border-color: var(--edge); } .pick:has(:checked) { border-color: var(--main);
      background: var(--pale-link); }
    """

  private static let small: Markup = """
    @media (max-width: 37.5rem) {
      thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
      table, caption, tbody, tr, th, td { display: block; }
      tr { border: 1px solid var(--line); border-radius: var(--round); margin-block-end: var(--s3);
        padding: var(--s2); }
      th, td { border: 0; padding: var(--s1) 0; } td:empty { display: none; } .number { text-align: start; }
      td[data-label]::before { content: attr(data-label); display: block; color: var(--quiet);
        font-size: var(--small); font-weight: 400; }
      dl { grid-template-columns: 1fr; } .filter label { flex: 1 1 40%; }
    }
    """

  private static let paper: Markup = """
    @media print {
      nav, form.filter, .bar, .skip, .button { display: none; } body { max-width: none; } tr, .card {
        break-inside: avoid; }
      a { color: inherit; text-decoration: none; } details:not([open]) > :not(summary) { display: block; }
    }
    """
}
