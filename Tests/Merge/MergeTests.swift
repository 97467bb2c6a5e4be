import SatchelMerge
import Testing

@Test func placeholder() {}
