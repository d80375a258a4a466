import Foundation
import TestSupport
import Testing

/// Files that other programs write.
@Suite struct RealFileTests {
  static func find(_ program: String) -> String? {
    let found = try? Command("/bin/sh", ["-c", "command -v \(program)"]).output.trimmingCharacters(in: .newlines)
    return found?.isEmpty == false ? found : nil
  }

  static let docc = find("docc")
  private let folder = TemporaryDirectory()

  /// Reads everything in every way that both tools have: the bytes are those of mdb_dump, and a copy holds the same.
  private func isTheSame(_ index: String) throws {
    let names = try Tool.kvdump("dump", "-q", "-l", index).output.split(separator: "\n").map(String.init)
    for options in [[], ["-p"]] + (names.isEmpty ? [] : [["-a"], ["-a", "-p"], ["-l"]]) + names.map({ ["-s", $0] }) {
      let version = options.contains("-p") ? ["--mdb-version", "0.9.24"] : []
      let ours = try Tool.kvdump(["dump", "-q"] + version + options + [index])
      let theirs = try Command("/usr/bin/mdb_dump", options + [index])
      let isSame = ours.output == theirs.output
      #expect(isSame && ours.status == 0 && theirs.status == 0, "\(options) \(ours.errors) \(theirs.errors)")
    }
    #expect(try Tool.kvdump("copy", "-q", "--compact", index, "\(folder.path)/copy").status == 0)
    #expect(try Tool.kvdump("diff", index, "\(folder.path)/copy").status == 0)
    // Also where a program has an order of its own.
    let script = "\"$0\" dump --all \"$1\" | \"$0\" load -q -a \"$2\""
    #expect(try Tool.shell(script, index, "\(folder.path)/loaded").status == 0)
    #expect(try Tool.kvdump("diff", index, "\(folder.path)/loaded").status == 0)
  }

  @Test(.enabled(if: docc != nil, "no docc here; it comes with the Swift toolchain"))
  func theIndexOfDocumentationIsRead() throws {
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
        "words", "--output-path", "\(folder.path)/out",
      ])
    #expect(convert.status == 0, "\(convert.errors)")
    let index = "\(folder.path)/out/index"
    #expect(try Tool.kvdump("verify", "--strict", index).status == 0)
    try isTheSame(index)
  }

  /// Takes half a minute, since sourcekit-lsp builds the package first.
  @Test(
    .enabled(if: LanguageServer.path != nil, "no sourcekit-lsp here; it comes with the Swift toolchain"),
    .enabled(if: ProcessInfo.processInfo.environment["HOLDFAST_REAL_FILES"] != nil, "HOLDFAST_REAL_FILES=1 runs it"))
  func theIndexOfTheLanguageServerIsRead() throws {
    let package = "\(folder.path)/Words"
    let sources = "\(package)/Sources/Words"
    try FileManager.default.createDirectory(atPath: sources, withIntermediateDirectories: true)
    let manifest = """
      // swift-tools-version: 6.0
      import PackageDescription
      let package = Package(name: "Words", targets: [.target(name: "Words")])
      """
    try Data(manifest.utf8).write(to: URL(fileURLWithPath: "\(package)/Package.swift"))
    for file in 0..<4 {
      let types = (0..<60).map { "public struct Word\(file)_\($0) { public func say() -> Int { \($0) } }\n" }
      try Data(types.joined().utf8).write(to: URL(fileURLWithPath: "\(sources)/W\(file).swift"))
    }
    try LanguageServer.index(package, opening: "\(sources)/W0.swift")
    let files = FileManager.default.enumerator(atPath: package)?.compactMap { $0 as? String } ?? []
    let data = try #require(files.first { $0.hasSuffix("/data.mdb") })
    let index = "\(package)/\(data.dropLast("/data.mdb".count))"
    let verify = try Tool.kvdump("verify", index)
    #expect(verify.status == 0 && verify.output.contains("does its program set an order of its own?"))
    #expect(try Tool.kvdump("ls", index).output.contains("usrs"))
    try isTheSame(index)
  }
}
