import Foundation
import SatchelJSON
import SatchelValues
import TestSupport
import Testing

private func written(_ value: Value) -> [UInt8] {
  var writer = JSONWriter()
  writer.value(value)
  return writer.bytes
}

private func read(_ bytes: [UInt8]) throws -> Value {
  var scanner = JSONScanner(bytes)
  let value = try scanner.readValue()
  try scanner.finish()
  return value
}

@Test(
  "each kind of value has its spelling",
  arguments: [
    (Value.null, "null"),
    (.integer(9_007_199_254_740_991), "9007199254740991"),
    (.integer(-9_007_199_254_740_991), "-9007199254740991"),
    (.integer(9_007_199_254_740_992), #"{"integer":"9007199254740992"}"#),
    (.integer(-9_007_199_254_740_992), #"{"integer":"-9007199254740992"}"#),
    (.integer(.min), #"{"integer":"-9223372036854775808"}"#),
    (.real(1), "1.0"),
    (.real(-0.0), "-0.0"),
    (.real(.leastNonzeroMagnitude), "5e-324"),
    (.real(.infinity), #"{"real":"inf"}"#),
    (.real(-.infinity), #"{"real":"-inf"}"#),
    (.string("é\n"), "\"é\\n\""),
    (.text([]), #""""#),
    (.text([0]), #"{"text":"AA=="}"#),
    (.text([0xff, 0x61]), #"{"text":"/2E="}"#),
    (.blob([]), #"{"blob":""}"#),
    (.blob([1, 2, 3]), #"{"blob":"AQID"}"#),
  ])
func spellings(value: Value, spelling: String) throws {
  #expect(text(written(value)) == spelling)
  #expect(try read(spelling.bytes) == value)
  #expect(JSONValue(value).compactBytes == spelling.bytes)
}

@Test("any value comes back as it was")
func roundTrips() throws {
  var random = SplitMix64(seed: 3)
  for _ in 0..<50_000 {
    let value = random.value()
    let bytes = written(value)
    if try read(bytes) != value { Issue.record("\(value)") }
    if JSONValue(value).compactBytes != bytes { Issue.record("\(value)") }
    if try JSONValue.parse(bytes).compactBytes != bytes { Issue.record("\(value)") }
  }
}

@Test("NaN, which SQLite does not keep, is null")
func nan() {
  #expect(written(.real(.nan)) == "null".bytes)
  #expect(JSONValue(.real(.nan)) == .null)
}

@Test(
  "a second spelling of a value is refused",
  arguments: [
    #"{"integer":"1"}"#, #"{"integer":"9007199254740991"}"#, #"{"integer":"+9007199254740992"}"#,
    #"{"integer":"09007199254740992"}"#, #"{"integer":"9223372036854775808"}"#, #"{"integer":9007199254740992}"#,
    #"{"integer":"-0"}"#, "9007199254740992", "-9007199254740992", #"{"real":"1.5"}"#, #"{"real":"Infinity"}"#,
    #"{"real":"+inf"}"#, #"{"real":"nan"}"#, #"{"text":"YQ=="}"#, #"{"text":""}"#, #""a\u0000""#, #"{"blob":"AQI"}"#,
    #"{"blob":"AQJ="}"#, #"{"blob":"AR=="}"#, #"{"blob":"AQ=="} "# + "1", #"{"blob":"AQID","blob":"AQID"}"#,
    #"{"blob":"AQID","x":1}"#, #"{"blob":"A-_D"}"#, #"{"blob":"AQ\n=="}"#, #"{"Blob":"AQID"}"#, #"{"null":"x"}"#, "{}",
    "[]",
    "[1]", "true", "false", "",
  ])
func otherSpellings(spelling: String) {
  #expect(throws: JSONError.self) { try read(spelling.bytes) }
}

@Test("base64 agrees with Foundation's, and decodes nothing that it would not write")
func base64() {
  var random = SplitMix64(seed: 4)
  for count in 0..<300 {
    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    #expect(text(Base64.encode(bytes)) == Data(bytes).base64EncodedString())
    #expect(Base64.decode(Base64.encode(bytes)) == bytes)
  }
  for _ in 0..<20_000 {
    let letters = Array("AQgwz/+=- ".utf8)
    let junk = (0..<Int.random(in: 0...8, using: &random)).map { _ in letters.randomElement(using: &random) ?? 0 }
    if let bytes = Base64.decode(junk), Base64.encode(bytes) != junk { Issue.record("\(text(junk))") }
  }
}

@Test("a key has one spelling, and two keys never share one")
func keys() throws {
  let key = RowKey([.integer(1), .string("\u{e9}"), .blob([0xff]), .null, .real(1)])
  #expect(text(canonicalKey(key)) == "[1,\"\u{e9}\",{\"blob\":\"/w==\"},null,1.0]")
  #expect(try RowKey(canonical: canonicalKey(key)) == key)
  #expect(canonicalKey(RowKey([.string("\u{e9}")])) != canonicalKey(RowKey([.string("e\u{301}")])))
  for other in [
    "[1 ]", " [1]", "[1.50]", "[-0]", "[1e0]", "[\"\\u0061\"]", "[\"\\/\"]", "[1]\n", "1", "{}", "[[1]]", "[1", "",
  ] {
    #expect(throws: JSONError.self, "\(other)") { try RowKey(canonical: other.bytes) }
  }
  var random = SplitMix64(seed: 5)
  for _ in 0..<5_000 {
    let key = RowKey((0..<Int.random(in: 0...4, using: &random)).map { _ in random.value() })
    if try RowKey(canonical: canonicalKey(key)) != key { Issue.record("\(key)") }
  }
}
