import SatchelCommands
import Testing

@Suite("Tables of text")
struct TextTableTests {
  @Test("columns line up, numbers to the right, and no line ends with a space")
  func aligns() {
    var table = TextTable(["NAME", .right("BUNDLES"), "NOTE"])
    table.add(["asha", "12", "came by boat"])
    table.add(["bo", "7"])
    #expect(
      table.text(width: 80) == """
        NAME  BUNDLES  NOTE
        asha       12  came by boat
        bo          7

        """)
  }

  @Test("the last column is cut where the width ends")
  func clips() {
    var table = TextTable(["A", "NOTE"])
    table.add(["x", "a note that is far too long"])
    #expect(table.text(width: 16) == "A  NOTE\nx  a note that …\n")
    #expect(table.text(width: nil).contains("far too long"))
    #expect(table.text(width: 1) == "A  NOTE\nx  a note th…\n")
  }

  @Test("without titles there is no heading, and the last column can go on below itself")
  func wraps() {
    var table = TextTable(["", ""])
    table.add(["x", "one two three four"])
    #expect(table.text(width: 16, indent: 2, overflow: .wrap) == "  x  one two\n     three four\n")
  }

  @Test("a cell cannot drive the terminal")
  func harmless() {
    var table = TextTable(["A"])
    table.add(["\u{1b}[2J\n\u{202e}x\u{9b}"])
    #expect(table.text(width: nil) == "A\n\u{fffd}[2J\u{fffd}\u{fffd}x\u{fffd}\n")
  }
}
