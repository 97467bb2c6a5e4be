import SatchelJSON
import TestSupport
import Testing

@Test("commas are added automatically, and nothing else is")
func commas() {
  var writer = JSONWriter()
  writer.beginObject()
  writer.key("a")
  writer.beginArray()
  writer.integer(1)
  writer.beginObject()
  writer.endObject()
  writer.bool(false)
  writer.null()
  writer.endArray()
  writer.key(bytes: "b".bytes)
  writer.real(1)
  writer.endObject()
  writer.endLine()
  writer.string("next")
  #expect(text(writer.bytes) == "{\"a\":[1,{},false,null],\"b\":1.0}\n\"next\"")
  writer.reset()
  writer.integer(7)
  #expect(text(writer.bytes) == "7")
}

@Test("only characters that must be escaped are")
func escapes() throws {
  let awkward = String(String.UnicodeScalarView((0...0x7f).compactMap { UnicodeScalar($0) })) + "é/\u{2028}"
  #expect(
    text(JSONValue.string(awkward).compactBytes)
      == #""\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"#
      + #"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f"#
      + ##" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"##
      + "\u{7f}é/\u{2028}\"")
  #expect(try JSONValue.parse(JSONValue.string(awkward).compactBytes) == .string(awkward))
}

@Test("integers are written digit by digit as Swift prints them")
func integers() {
  var numbers: [Int64] = [0, 1, -1, .min, .max, .min + 1]
  var power: Int64 = 1
  for _ in 0..<18 {
    power *= 10
    numbers += [power - 1, power, power + 1, -power, 1 - power]
  }
  for number in numbers { #expect(text(JSONValue.integer(number).compactBytes) == String(number)) }
}

@Test("a real always shows a point or an exponent and reads back bit by bit")
func reals() throws {
  var random = SplitMix64(seed: 2)
  var numbers: [Double] = [0, -0.0, 1, -1, 0.1, 1e15, 1e16, 1e22, 1 / 3]
  numbers += [.leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude]
  for _ in 0..<20_000 {
    let number = Double(bitPattern: random.next())
    if number.isFinite { numbers.append(number) }
  }
  for number in numbers {
    let bytes = JSONValue.real(number).compactBytes
    if !bytes.contains(UInt8(ascii: ".")) && !bytes.contains(UInt8(ascii: "e")) { Issue.record("\(number)") }
    if try JSONValue.parse(bytes) != .real(number) { Issue.record("\(number)") }
  }
}

@Test("people get a member a line")
func pretty() {
  let value: JSONValue = ["a": 1, "b": ["x", nil, []], "c": [:], "d": ["e": true]]
  #expect(
    text(value.prettyBytes) == """
      {
        "a": 1,
        "b": [
          "x",
          null,
          []
        ],
        "c": {},
        "d": {
          "e": true
        }
      }

      """)
  #expect(text(value.compactBytes) == #"{"a":1,"b":["x",null,[]],"c":{},"d":{"e":true}}"#)
}

@Test("accessors answer for their own kind alone")
func accessors() {
  let value: JSONValue = ["text": "x", "number": 3, "truth": false, "list": [1]]
  #expect(value["text"]?.stringValue == "x")
  #expect(value["number"]?.integerValue == 3)
  #expect(value["truth"]?.boolValue == false)
  #expect(value["list"]?.arrayValue == [1])
  #expect(value.objectValue?.map(\.name) == ["text", "number", "truth", "list"])
  #expect(value["text"]?.integerValue == nil)
  #expect(value["none"] == nil)
  #expect(JSONValue.null["x"] == nil)
}
