import Foundation
import HitRatio
import Testing

struct HitRatioTests {
  @Test(
    "What is no trace is an error and not a trap, and is found before anything grows",
    arguments: [
      ("huge.lis", "0 5000000000000 0 0\n", []), ("wraps.lis", "9223372036854775800 100 0 0\n", []),
      ("many.lis", String(repeating: "0 9223372036854775807 0 0\n", count: 2), []),
      ("sizes.txt", "a 9223372036854775807\nb 9223372036854775807\na 1\n", ["--bytes"]), ("empty.txt", "", []),
      ("missing-size.txt", "a 5\nb\n", []), ("noise.gz", "not packed", []),
    ] as [(String, String, [String])])
  func hostile(_ name: String, _ text: String, _ options: [String]) throws {
    let path = "\(NSTemporaryDirectory())/\(UUID().uuidString)-\(name)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(text.utf8).write(to: URL(filePath: path))
    #expect(throws: (any Error).self) { try HitRatioCommand.run([path] + options) }
  }

  @Test("Arguments that name nothing are errors", arguments: ["", "@", "@5", "/nowhere/at@home/trace", "--json"])
  func names(_ text: String) {
    #expect(throws: (any Error).self) { try HitRatioCommand.run([text]) }
  }
}
