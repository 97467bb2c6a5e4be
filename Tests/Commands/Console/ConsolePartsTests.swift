import SatchelGeometry
import Testing

@testable import SatchelCommands

@Suite("The parts of the console's pages")
struct ConsolePartsTests {
  private func marked(_ old: String, _ new: String) -> String? { WordDifference(from: old, to: new)?.markup.text }

  @Test("changed words of a text are marked, and texts with nothing in common are not compared")
  func words() {
    #expect(marked("a b c d", "a x c d") == "a <del>b</del><ins>x</ins> c d")
    #expect(marked("a b c d e", "a x y d e") == "a <del>b c</del><ins>x y</ins> d e")
    #expect(marked("a b c", "a b c d") == "a b c<ins> d</ins>")
    #expect(marked("a <b> c", "a <i> c") == "a <del>&lt;b&gt;</del><ins>&lt;i&gt;</ins> c")
    #expect(marked("one two three four", "five six seven eight") == nil)
    #expect(marked("quiet", "loud") == nil && marked("a b c", "a b c") == nil)
  }

  @Test("a difference of long texts is bounded, and keeps every word of the new text")
  func longWords() throws {
    let common = (0..<4000).map { "c\($0)" }.joined(separator: " ")
    let (old, new) = ((0..<900).map { "o\($0)" }, (0..<900).map { "n\($0)" })
    let text = try #require(
      marked("\(common) \(old.joined(separator: " "))", "\(common) \(new.joined(separator: " "))"))
    #expect(text.utf8.count < 20_000 && text.contains("<small>...</small>") && text.contains("n899</ins>"))
    #expect(WordDifference(from: String(repeating: "a ", count: 100_000), to: "a b c") == nil)
  }

  @Test("a picture of geometries stays small, whatever the numbers are")
  func pictures() throws {
    let line = Geometry(
      .lineString, .xy, .positions((0..<10_000).map { Position(x: Double($0), y: Double($0 % 97)) }))
    let picture = try #require(GeometryPicture([.init(style: "hub", geometry: line)]))
    let text = picture.markup(label: "a \"line\"").text
    #expect(
      text.utf8.count < 3_000 && text.contains("aria-label=\"a &quot;line&quot;\"") && text.contains("class=\"hub\""))
    for (x, y) in [(0.0, 0.0), (1e308, -1e308), (.leastNonzeroMagnitude, 1e-300)] {
      let point = Geometry(.point, .xy, .positions([Position(x: x, y: y)]))
      let far = Geometry(.point, .xy, .positions([Position(x: -x, y: 1)]))
      _ = GeometryPicture([.init(style: "hub", geometry: point), .init(style: "device", geometry: far)])?.markup(
        label: "")
    }
    let nowhere = Geometry(.point, .xy, .positions([Position(x: .nan, y: .infinity)]))
    #expect(GeometryPicture([.init(style: "hub", geometry: nowhere)]) == nil)
    #expect(GeometryPicture([.init(style: "hub", geometry: Geometry(.point, .xy, .positions([])))]) == nil)
  }

  @Test("empty parts and rings of a geometry take no room in its picture")
  func emptyParts() throws {
    let point = Geometry(.point, .xy, .positions([Position(x: 1, y: 1)]))
    let line = Geometry(.lineString, .xy, .positions([]))
    let rings = Geometry(.polygon, .xy, .rings(Array(repeating: [], count: 50_000)))
    let parts = Array(repeating: line, count: 50_000) + [rings, point]
    let all = Geometry(.geometryCollection, .xy, .parts(parts))
    let text = try #require(GeometryPicture([.init(style: "hub", geometry: all)])).markup(label: "").text
    #expect(text.utf8.count < 3_000 && text.contains("<circle") && !text.contains("<path"))
  }

  @Test("numbers have commas between their thousands")
  func numbers() {
    #expect(Words.grouped(0) == "0" && Words.grouped(999) == "999" && Words.grouped(1_000) == "1,000")
    #expect(Words.grouped(-1_234_567) == "-1,234,567")
    #expect(Words.beginning("abc", 3) == "abc" && Words.beginning("abcd", 3) == "abc...")
  }
}
