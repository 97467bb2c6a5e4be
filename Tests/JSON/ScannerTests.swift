import SatchelJSON
import TestSupport
import Testing

private func refusal(_ text: String, limits: JSONLimits = .init()) -> JSONError? {
  do {
    _ = try JSONValue.parse(text.bytes, limits: limits)
    return nil
  } catch { return error }
}

@Test("the caller reads the values that it expects, in the text's order")
func pulling() throws {
  var scanner = JSONScanner(" { \"a\" : [ 1 , 2.5, true ,null ] , \"\\u0062\":\"\\ud83e\\uddfa\\/\" } \n".bytes)
  #expect(try scanner.peek() == .object)
  try scanner.beginObject()
  #expect(try scanner.nextKey() == "a".bytes)
  try scanner.beginArray()
  #expect(try scanner.nextElement())
  #expect(try scanner.readNumber() == .integer(1))
  #expect(try scanner.nextElement())
  #expect(try scanner.readNumber() == .real(2.5))
  #expect(try scanner.nextElement())
  #expect(try scanner.readBool())
  #expect(try scanner.nextElement())
  try scanner.readNull()
  #expect(try !scanner.nextElement())
  #expect(try scanner.nextKey() == "b".bytes)
  #expect(try scanner.readString() == "\u{1f9fa}/".bytes)
  #expect(try scanner.nextKey() == nil)
  try scanner.finish()
}

@Test("a value of another kind than the expected one is an error at its offset")
func mismatch() {
  var scanner = JSONScanner("  [1]".bytes)
  #expect(throws: JSONError(offset: 2, reason: "expected an object")) { try scanner.beginObject() }
  #expect(throws: JSONError(offset: 2, reason: "expected a string")) { _ = try scanner.readString() }
  #expect(throws: JSONError(offset: 2, reason: "expected true or false")) { _ = try scanner.readBool() }
  #expect(throws: JSONError(offset: 2, reason: "expected a number")) { _ = try scanner.readNumber() }
  #expect(throws: JSONError(offset: 2, reason: "expected null")) { try scanner.readNull() }
}

@Test("containers close with their own bracket, and only a value may be between commas")
func brackets() {
  for text in [
    "[1}", "{\"a\":1]", "[,1]", "[1,]", "[1,,2]", "{\"a\":1,}", "{,}", "{\"a\" 1}", "{1:1}", "[1 2]", "[", "{", "", "]",
  ] {
    #expect(refusal(text) != nil, "\(text)")
  }
}

@Test("numbers keep the kind that their literal shows")
func numbers() throws {
  func number(_ text: String) throws -> JSONNumber {
    var scanner = JSONScanner(text.bytes)
    let number = try scanner.readNumber()
    try scanner.finish()
    return number
  }
  #expect(try number("0") == .integer(0))
  #expect(try number("-0") == .integer(0))
  #expect(try number("9223372036854775807") == .integer(.max))
  #expect(try number("-9223372036854775808") == .integer(.min))
  #expect(try number("1e2") == .real(100))
  #expect(try number("1E+2") == .real(100))
  #expect(try number("5e-324") == .real(.leastNonzeroMagnitude))
  #expect(try number("1.7976931348623157e308") == .real(.greatestFiniteMagnitude))
  for text in ["-0.0", "-0e0"] {
    guard case .real(let zero) = try number(text) else {
      Issue.record("\(text) is a real")
      continue
    }
    #expect(zero == 0 && zero.sign == .minus)
  }
  for text in ["9223372036854775808", "-9223372036854775809", "99999999999999999999", "1e309", "-1e309"] {
    #expect(throws: JSONError(offset: 0, reason: "number out of range")) { try number(text) }
  }
  for text in ["01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "--1", "1.e1", "-01", "NaN", "1_000"] {
    #expect(throws: JSONError.self, "\(text)") { try number(text) }
  }
}

@Test("decimals are rounded as the standard library rounds them")
func decimals() throws {
  var random = SplitMix64(seed: 6)
  func check(_ literal: String) throws {
    var scanner = JSONScanner(literal.bytes)
    guard case .real(let number) = try scanner.readNumber(), number.bitPattern == Double(literal)?.bitPattern else {
      Issue.record("\(literal)")
      return
    }
  }
  for literal in [
    "9007199254740993.0", "9007199254740992.5", "9007199254740993.5", "0.0", "-0.00", "1844674407370955161.5",
  ] {
    try check(literal)
  }
  for literal in ["18446744073709551615.0", "0.0000000000000000001", "0.00000000000000000001", "99999999999999999.99"] {
    try check(literal)
  }
  for _ in 0..<100_000 {
    let digits = String(random.next() >> UInt64.random(in: 0...63, using: &random))
    let places = Int.random(in: 1...22, using: &random)
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    try check("\(padded.dropLast(places)).\(padded.suffix(places))")
    // A number halfway between two doubles, and its two neighbours in the last decimal place.
    let odd = random.next() >> 11 | 1
    try check("\(odd / 2).\(odd % 2 * 5)")
  }
}

@Test("strings that are not well-formed are refused where they break")
func strings() {
  #expect(refusal("\"a\u{1}\"") == JSONError(offset: 2, reason: "a control character in a string"))
  #expect(refusal("\"\\ud800\"") == JSONError(offset: 1, reason: "half of a surrogate pair"))
  #expect(refusal("\"\\udc00\"") == JSONError(offset: 1, reason: "half of a surrogate pair"))
  #expect(refusal("\"\\ud800\\u0041\"") == JSONError(offset: 1, reason: "half of a surrogate pair"))
  #expect(refusal("\"\\u12g4\"")?.offset == 1)
  #expect(refusal("\"\\x\"")?.offset == 1)
  for broken: [UInt8] in [
    [0xc0, 0x80], [0xc1, 0xbf], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80], [0xf0, 0x8f, 0xbf, 0xbf],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80], [0x80], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0xa7], [0xff], [0xe2, 0x28, 0xa1],
  ] {
    let bytes = "\"a".bytes + broken + "\"".bytes
    #expect(throws: JSONError(offset: 2, reason: "bytes that are not UTF-8")) { try JSONValue.parse(bytes) }
  }
}

@Test("our reading of UTF-8 agrees with the standard library's on every four interesting bytes")
func sequences() {
  let interesting: [UInt8] = [
    0x20, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0,
    0xf1, 0xf3,
    0xf4, 0xf5, 0xff,
  ]
  for a in interesting {
    for b in interesting {
      for c in interesting {
        for d in interesting {
          let bytes = [a, b, c, d]
          let ours = (try? JSONValue.parse([0x22] + bytes + [0x22])) != nil
          if ours != (String(validating: bytes, as: UTF8.self) != nil) { Issue.record("\(bytes)") }
        }
      }
    }
  }
}

@Test("each limit holds at its edge")
func limits() {
  let limits = JSONLimits(maxDepth: 3, maxStringBytes: 4, maxNumberBytes: 5, maxMembers: 6)
  #expect(refusal("[[[]]]", limits: limits) == nil)
  #expect(refusal("[[[[]]]]", limits: limits)?.reason == "nested more than 3 levels deep")
  #expect(refusal("[[{\"a\":{}}]]", limits: limits)?.reason == "nested more than 3 levels deep")
  #expect(refusal("\"1234\"", limits: limits) == nil)
  #expect(refusal("\"12345\"", limits: limits)?.reason == "a string longer than 4 bytes")
  #expect(refusal("{\"12345\":1}", limits: limits)?.reason == "a string longer than 4 bytes")
  #expect(refusal("12345", limits: limits) == nil)
  #expect(refusal("0.1234", limits: limits)?.reason == "a number longer than 5 bytes")
  #expect(refusal("[1,2,3,4,5,6]", limits: limits) == nil)
  #expect(refusal("[1,2,[3,4,[5]]]", limits: limits)?.reason == "more than 6 members")
}

@Test("a hundred thousand brackets are an error, not a crash", arguments: ["[", "{\"a\":", "[{\"\":"])
func deepNesting(opening: String) {
  let bytes = String(repeating: opening, count: 100_000).bytes
  #expect(throws: JSONError.self) { try JSONValue.parse(bytes) }
  var scanner = JSONScanner(bytes)
  #expect(throws: JSONError.self) { try scanner.skipValue() }
}

@Test("the deepest nesting that limits allow is parsed, written and freed")
func deepestNesting() throws {
  let text = String(repeating: "[", count: 1024) + String(repeating: "]", count: 1024)
  let value = try JSONValue.parse(text.bytes, limits: JSONLimits(maxDepth: 1024))
  #expect(value.compactBytes == text.bytes)
  #expect(!value.prettyBytes.isEmpty)
}

@Test("known keys are returned by index, in any order and spelling; others as their bytes")
func knownKeys() throws {
  var known = KnownTexts(["table", "op", "\u{e9}"])
  var scanner = JSONScanner(
    Array(#"{"op":1,"t\u0061ble":1,"table":1,"e\u0301":1,"\u00e9":1,"":1,"new":1,"new":1}"#.utf8))
  var found: [String] = []
  try scanner.beginObject()
  while let key = try scanner.nextKey(among: &known) {
    _ = try scanner.readNumber()
    switch key {
    case .known(let place): found.append("\(place)")
    case .other(let bytes):
      found.append(String(decoding: bytes, as: UTF8.self))
      if bytes == Array("new".utf8) { #expect(known.add(bytes) == 3) }
    }
  }
  #expect(found == ["1", "0", "0", "e\u{301}", "2", "", "new", "3"])
  #expect((4..<1000).filter { known.add(Array("column \($0)".utf8)) != nil }.count == 252)
}

@Test("a text of more than 256 bytes is not kept, however often a file repeats it")
func longKnownTexts() {
  var known = KnownTexts()
  for length in [257, 65_536, 257] { #expect(known.add([UInt8](repeating: 0x6e, count: length)) == nil) }
  #expect(known.add([UInt8](repeating: 0x6e, count: 256)) == 0)
}

@Test("names are compared as bytes: two spellings of é are two names, the same spelling twice is refused")
func duplicates() throws {
  let value = try JSONValue.parse("{\"\u{e9}\":1,\"e\u{301}\":2}".bytes)
  #expect(value["\u{e9}"]?.integerValue == 1)
  #expect(value["e\u{301}"]?.integerValue == 2)
  #expect(refusal("{\"\u{e9}\":1,\"\\u00e9\":2}")?.reason == "a name that this object has already")
}

@Test("cutting or changing a text anywhere gives an error or a value, never a crash")
func damage() {
  let good = "{\"a\":[1,-2.5e3,true,null,\"x\\n\\ud83e\\uddfa\u{e9}\"],\"b\":{\"blob\":\"AAEC\"}}".bytes
  var random = SplitMix64(seed: 1)
  for end in good.indices {
    #expect(throws: JSONError.self) { try JSONValue.parse(Array(good[..<end])) }
  }
  for _ in 0..<20_000 {
    var bytes = good
    bytes[Int.random(in: good.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
    if let value = try? JSONValue.parse(bytes), (try? JSONValue.parse(value.compactBytes)) != value {
      Issue.record("\(text(bytes))")
    }
  }
}
