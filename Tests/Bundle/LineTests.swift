import SatchelBundle
import SatchelValues
import TestSupport
import Testing

private let stamp = #""stamp":"019c13161a880000""#
private let never = #""stamp":"0000000000000000""#
private let row = #""row":{"id":7}"#
private let conflict =
  #""conflict":"0123456789abcdef0123456789abcdef","device":"6f1c2a9b-7d3e-4f50-8a61-b2c3d4e5f607","user":"ana","table":"t","#
  + #""op":"update","key":[1],"generation":1,"stamp":"019c13161a880000","kind":"unique","state":"open","#
  + #""base_values":{"a":1},"hub_values":null,"device_values":{"a":2},"winners":{"a":"hub"},"winner":"hub""#
private let resolution =
  #""conflict":"0123456789abcdef0123456789abcdef","decision":"hub","user":"ana","generation":1,"stamp":"019c13161a880000""#

@Suite("Rules of lines")
struct LineTests {
  let room: ReadingRoom

  init() throws { room = try ReadingRoom() }

  func reason(_ line: String) throws -> String? { try room.reason(HandMade(lines: [HandMade.line, line])) }

  @Test(
    "a change in any order and spelling, and with members of later versions",
    arguments: [
      #"{\#(row),\#(stamp),"generation":0,"key":[7],"op":"insert","table":"t"}"#,
      #" { "table" : "t" , "op" : "gone" , "key" : [ 7.0 ] , \#(never) } "#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"origin":{"device":["x"]},\#(row)}"#,
      #"{"t\u0061ble":"t","op":"update","key":[7],"generation":1,\#(stamp),"set":{"a":1},"was":{"a":2}}"#,
      #"{"table":"t","op":"delete","key":[1.50,{"blob":""},{"text":"AA=="}],"generation":9007199254740991,\#(stamp),"was":{}}"#,
    ])
  func changes(line: String) throws { #expect(try reason(line) == nil) }

  private static let rekey = #"{"table":"t","op":"rekey","key":[7],\#(never),"to":[8],"number":3}"#

  @Test("lines about keys are accepted only if the manifest announces them")
  func keys() throws {
    for line in [Self.rekey, #"{"table":"t","op":"block","key":[7],\#(never),"to":[8],"number":3}"#] {
      let bundle = HandMade(lines: [line, HandMade.line])
      #expect(try room.reason(bundle.setting("critical", #"["keys"]"#)) == nil)
      #expect(try room.reason(bundle) == "bad-line")
    }
  }

  @Test(
    "a line about keys that breaks a rule",
    arguments: [
      #"{"table":"t","op":"rekey","key":[7],\#(never),"to":[8]}"#,
      #"{"table":"t","op":"rekey","key":[7],\#(stamp),"to":[8],"number":3}"#,
      #"{"table":"t","op":"rekey","key":[7],\#(never),"number":3}"#,
      #"{"table":"t","op":"rekey","key":[7],\#(never),"to":[],"number":3}"#,
      #"{"table":"t","op":"rekey","key":[7],\#(never),"to":8,"number":3}"#,
      #"{"table":"t","op":"block","key":[7],\#(never),"to":[8],"number":-1}"#,
      #"{"table":"t","op":"rekey","key":[7],"generation":1,\#(never),"to":[8],"number":3}"#,
      #"{"table":"t","op":"rekey","key":[7],\#(never),"to":[8],"number":3,\#(row)}"#,
      #"{"table":"t","op":"rekey","key":[7],\#(never),"to":[8],"to":[8],"number":3}"#,
    ])
  func badKeys(line: String) throws {
    #expect(try room.reason(HandMade(lines: [line]).setting("critical", #"["keys"]"#)) == "bad-line")
  }

  private static let member = #"{"table":"t","op":"insert","key":[7],"generation":1,\#(stamp),"unit":3,\#(row)}"#

  @Test("lines of units are accepted only if the manifest announces units")
  func units() throws {
    let bundle = HandMade(lines: [HandMade.line, Self.member])
    #expect(try room.reason(bundle.setting("critical", #"["units"]"#)) == nil)
    #expect(try room.reason(bundle) == "bad-line")
  }

  @Test(
    "a unit that breaks a rule",
    arguments: [("3", "0"), ("3", "-1"), ("3", #""3""#), ("3", "9007199254740992"), ("\"generation\":1,", "")])
  func badUnits(right: String, wrong: String) throws {
    let line = Self.member.replacing(right, with: wrong)
    #expect(try room.reason(HandMade(lines: [line]).setting("critical", #"["units"]"#)) == "bad-line")
  }

  @Test(
    "a change that breaks a rule",
    arguments: [
      "", "{", "[]", "null", "{}", #"{"table":"t"}"#,
      #"{"table":"t","op":"drop","key":[7],"generation":1,\#(stamp)}"#,
      #"{"table":"t","op":"insert","key":[7],\#(stamp),\#(row)}"#,
      #"{"table":"t","op":"insert","key":[7],"generation":1,\#(stamp)}"#,
      #"{"table":"t","op":"insert","key":[7],"generation":1,\#(stamp),\#(row),"was":{}}"#,
      #"{"table":"t","op":"update","key":[7],"generation":1,\#(stamp),"set":{}}"#,
      #"{"table":"t","op":"row","key":[7],"generation":1,\#(stamp),\#(row)}"#,
      #"{"table":"t","op":"gone","key":[7],\#(never),\#(row)}"#,
      #"{"table":"t","op":"gone","key":[7],"generation":1,\#(never)}"#,
      #"{"table":"t","op":"gone","key":[7],\#(stamp)}"#,
      #"{"table":"t","op":"update","key":[7],"generation":1,\#(stamp),"set":{},"was":{}}"#,
      #"{"table":"t","op":"gone","key":[],\#(never)}"#,
      #"{"table":"t","op":"gone","key":[7,null],\#(never)}"#,
      #"{"table":"t","op":"gone","key":7,\#(never)}"#,
      #"{"table":"t","op":"gone","key":[true],\#(never)}"#,
      #"{"table":"t","op":"gone","key":[[7]],\#(never)}"#,
      #"{"table":"t","op":"gone","key":[7],"stamp":"19c13161a880000"}"#,
      #"{"table":"t","op":"gone","key":[7],"stamp":0}"#,
      #"{"table":"t","table":"t","op":"gone","key":[7],\#(stamp)}"#,
      #"{"table":"t","op":"gone","op":"row","key":[7],\#(never)}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{"id":7,"id":7}}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{"id":7,"\u0069d":8}}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":null}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{"id":9007199254740992}}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{"id":{"integer":"7"}}}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{"id":{"text":"YQ=="}}}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{"id":{"blob":"YR=="}}}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{"id":{"real":"nan"}}}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{"id":{"blob":"","text":""}}}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{"id":{}}}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{"id":"\u0000"}}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{"id":"\ud800"}}"#,
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{"id":1e999}}"#,
      #"{"table":"t","op":"insert","key":[7],"generation":-1,\#(stamp),\#(row)}"#,
      #"{"table":"t","op":"insert","key":[7],"generation":1.0,\#(stamp),\#(row)}"#,
      #"{"table":"t","op":"insert","key":[7],"generation":9007199254740992,\#(stamp),\#(row)}"#,
      #"{"table":"t","op":"gone","key":[7],\#(never)} {}"#,
      #"{"table":"t","op":"gone","key":[7],\#(never),}"#,
      "\u{feff}" + #"{"table":"t","op":"gone","key":[7],\#(never)}"#,
    ])
  func wrongChanges(line: String) throws { #expect(try reason(line) == "bad-line") }

  @Test("a wide row, and a row with a column twice")
  func wide() throws {
    let columns = (0..<2000).map { "\"c\($0)\":\($0)" }
    func line(_ columns: [String]) -> String {
      #"{"table":"t","op":"row","key":[7],\#(stamp),"row":{\#(columns.joined(separator: ","))}}"#
    }
    #expect(try reason(line(columns)) == nil)
    #expect(try reason(line(columns + [columns[1000]])) == "bad-line")
  }

  @Test("a last line without its end, and lines with none")
  func ends() throws {
    let open = HandMade().changing { $0.entries[0].content.removeLast() }
    #expect(try room.reason(open) == "bad-line")
    let blank = HandMade().changing { $0.entries[0].content.append(0x0a) }
    #expect(try room.reason(blank) == "bad-line")
  }

  @Test(
    "the wrong line among many is named, and all lines before it were read in order",
    arguments: [1, 1_024, 1_025, 1_500, 1_501, 2_600])
  func many(number: Int) throws {
    func line(_ key: Int) -> String {
      let words = String(repeating: "w", count: key == 1_500 ? 2 << 20 : key > 2_000 ? 1_000 : 3)
      return #"{"table":"t","op":"row","key":[\#(key)],\#(stamp),"row":{"id":\#(key),"words":"\#(words)"}}"#
    }
    var all = (1...2_600).map(line)
    #expect(try room.changes(HandMade(lines: all)).lines.map(\.key) == (1...2_600).map { RowKey([.integer($0)]) })
    all[number - 1] = "{}"
    let (lines, error) = try room.changes(HandMade(lines: all))
    #expect(lines.map(\.key) == (1..<Int64(number)).map { RowKey([.integer($0)]) })
    #expect(error?.message.hasPrefix("Line \(number) of changes.jsonl ") == true)
  }

  private func other(_ entry: String, _ line: String) throws -> String? {
    let made = HandMade(lines: []).changing { made in
      made.entries = [HandMadeEntry(entry, Array((line + "\n").utf8))]
      made.set(
        "counts",
        #"{"changes":0,"resolutions":\#(entry.hasPrefix("r") ? 1 : 0),"conflicts":\#(entry.hasPrefix("c") ? 1 : 0)}"#)
    }
    return try room.reason(made)
  }

  @Test("a conflict, right and wrong")
  func conflicts() throws {
    #expect(try other("conflicts.jsonl", "{\(conflict)}") == nil)
    #expect(try other("conflicts.jsonl", #"{\#(conflict),"note":"n","later":[1]}"#) == nil)
    for (part, wrong) in [
      (#""kind":"unique""#, #""kind":"other""#), (#""state":"open""#, #""state":"shut""#),
      (#""op":"update""#, #""op":"row""#),
      (#""winner":"hub""#, #""winner":"me""#), (#"{"a":"hub"}"#, #"{"a":"me"}"#),
      (#"{"a":"hub"}"#, #"{"a":"hub","a":"hub"}"#),
      (#"{"a":1}"#, #"{"a":1,"a":1}"#), (#""generation":1"#, #""generation":-1"#), ("0123", "012"), ("[1]", "[]"),
      (#","winner":"hub""#, ""), (#""user":"ana""#, #""user":"ana","user":"ben""#),
      (#""hub_values":null"#, #""hub_values":null,"hub_values":{}"#),
      (#""base_values":{"a":1},"#, ""), (#""winners":{"a":"hub"},"#, ""),
    ] {
      let line = conflict.replacing(part, with: wrong)
      #expect(line != conflict)
      #expect(try other("conflicts.jsonl", "{\(line)}") == "bad-line", "\(wrong)")
    }
  }

  @Test("a conflict names a decision exactly if it is resolved")
  func decided() throws {
    let resolved = conflict.replacing(#""state":"open""#, with: #""state":"resolved""#)
    let decision = #""decision":"set","decided_by":"ana""#
    #expect(try other("conflicts.jsonl", "{\(resolved),\(decision)}") == nil)
    for wrong in [
      "\(conflict),\(decision)", resolved, #"\#(conflict),"decided_by":"ana""#, #"\#(conflict),"decision":"hub""#,
      #"\#(resolved),"decided_by":"ana""#, #"\#(resolved),"decision":"hub""#,
      #"\#(resolved),"decision":"mine","decided_by":"ana""#, #"\#(resolved),"decision":"hub","decided_by":null"#,
    ] {
      #expect(try other("conflicts.jsonl", "{\(wrong)}") == "bad-line", "\(wrong)")
    }
  }

  @Test("a resolution, right and wrong")
  func resolutions() throws {
    #expect(try other("resolutions.jsonl", "{\(resolution)}") == nil)
    #expect(try other("resolutions.jsonl", #"{\#(resolution),"note":"n","later":[1]}"#) == nil)
    for (part, wrong) in [
      (#""decision":"hub""#, #""decision":"mine""#), (#""generation":1"#, #""generation":-1"#), ("0123", "G123"),
      (#""user":"ana","#, ""), (#""user":"ana""#, #""user":"ana","user":"ana""#),
      (#""user":"ana""#, #""user":"ana","note":1"#),
    ] {
      let line = resolution.replacing(part, with: wrong)
      #expect(line != resolution)
      #expect(try other("resolutions.jsonl", "{\(line)}") == "bad-line", "\(wrong)")
    }
  }
}
