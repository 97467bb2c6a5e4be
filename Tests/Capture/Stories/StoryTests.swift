import Testing

@Test("the steps are what a writer changed", arguments: stories, Writer.allCases)
func steps(story: Story, writer: Writer) throws {
  let database = try CapturedDatabase(story.tables, setUp: story.setUp, rules: story.rules)
  try database.write(story.writes, by: writer)
  let steps = try database.steps()
  #expect(steps == story.steps)
  let faults = try database.faults()
  #expect(faults == [])
}

private let stories =
  plainStories + conflictStories + keyStories + referenceStories + triggerStories + nameStories + valueStories
  + namedKeyStories
