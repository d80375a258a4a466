import Foundation
import TestSupport
import Testing

/// Files that other programs write.
@Suite struct RealFileTests {
  static let docc = try? Command("/bin/sh", ["-c", "command -v docc"]).output.trimmingCharacters(in: .newlines)

  @Test(.enabled(if: docc?.isEmpty == false, "no docc here; it comes with the Swift toolchain"))
  func theIndexOfDocumentationIsRead() throws {
    let folder = TemporaryDirectory()
    let catalog = "\(folder.path)/Words.docc"
    try FileManager.default.createDirectory(atPath: catalog, withIntermediateDirectories: false)
    for index in 0..<40 {
      let text = "# Article \(index)\n\n\(index == 0 ? "@Metadata { @TechnologyRoot }\n" : "")\nWords about \(index).\n"
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(catalog)/Article\(index).md"))
    }
    let convert = try Command(
      Self.docc ?? "",
      [
        "convert", catalog, "--emit-lmdb-index", "--fallback-display-name", "Words", "--fallback-bundle-identifier",
        "words",
        "--output-path", "\(folder.path)/out",
      ])
    #expect(convert.status == 0, "\(convert.errors)")
    let index = "\(folder.path)/out/index"
    #expect(try Tool.kvdump("verify", "--strict", index).status == 0)
    for options in [[], ["-a"]] {
      let ours = try Tool.kvdump(["dump", "-q"] + options + [index])
      let theirs = try Command("/usr/bin/mdb_dump", options + [index])
      #expect(ours.output == theirs.output && ours.status == 0 || theirs.output.isEmpty, "\(options) \(ours.errors)")
    }
    #expect(try Tool.kvdump("copy", "-q", "--compact", index, "\(folder.path)/copy").status == 0)
    #expect(try Tool.kvdump("diff", index, "\(folder.path)/copy").status == 0)
  }
}
