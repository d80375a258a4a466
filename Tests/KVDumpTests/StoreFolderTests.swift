import Foundation
import Holdfast
import LMDB
import TestSupport
import Testing

/// The folders of files beside a data file go where the data goes.
@Suite struct StoreFolderTests {
  private let folder = TemporaryDirectory()
  private var store: String { "\(folder.path)/store" }

  private func fill() throws {
    let store = try Store.open(at: store)
    for index in 0..<3 {
      let file = try store.outbox.stage([UInt8](repeating: UInt8(index), count: 1000), name: "a", mediaType: "b/c")
      try store.write { t in
        try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "l", payload: [1], attachments: [file]), in: &t)
      }
    }
  }

  @Test(arguments: [["copy"], ["copy", "--compact"], ["recover"]]) func attachmentsAreCopied(_ words: [String]) throws {
    try fill()
    let attachments = "\(store)/attachments"
    try Data([1]).write(to: URL(fileURLWithPath: "\(attachments)/unfinished.part"))
    let before = try Tool.listing(attachments)
    let target = "\(folder.path)/target"
    let command = try Tool.kvdump(words + [store] + (words[0] == "copy" ? [target] : ["-o", target]))
    #expect(command.status == 0, "\(command.errors)")
    #expect(try Tool.kvdump("outbox", "verify", target).output == "0 errors, 3 entries checked\n")
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(target)/attachments")
    #expect(names.count == 3 && !names.contains { $0.hasSuffix(".part") })
    #expect(try Tool.listing(attachments) == before)
    // Without them, it is not a copy.
    try FileManager.default.removeItem(atPath: "\(target)/attachments/\(names[0])")
    #expect(try Tool.kvdump("outbox", "verify", target).status == 1)
  }

  /// Two commits name it, so that no writer can have taken it away meanwhile.
  @Test(arguments: [[], ["--compact"]]) func aFileThatIsNowhereKeepsNothingFromBeingCopied(_ words: [String]) throws {
    try fill()
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(store)/attachments")
    try FileManager.default.removeItem(atPath: "\(store)/attachments/\(names[0])")
    let copy = try Tool.kvdump(["copy", store, "\(folder.path)/target"] + words)
    #expect(copy.status == 1 && copy.errors.contains("lacks 1 file that"), "\(copy.errors)")
    let verify = try Tool.kvdump("outbox", "verify", "\(folder.path)/target")
    #expect(verify.status == 1 && verify.output.contains("\(names[0]) is missing"), "\(verify.output)")
  }

  @Test func filesBehindLinksAreCopied() throws {
    try fill()
    let attachments = "\(store)/attachments"
    for name in try FileManager.default.contentsOfDirectory(atPath: attachments) {
      try FileManager.default.moveItem(atPath: "\(attachments)/\(name)", toPath: "\(folder.path)/\(name)")
      try FileManager.default.createSymbolicLink(
        atPath: "\(attachments)/\(name)", withDestinationPath: "\(folder.path)/\(name)")
    }
    #expect(try Tool.kvdump("copy", store, "\(folder.path)/target").status == 0)
    #expect(try Tool.kvdump("outbox", "verify", "\(folder.path)/target").output == "0 errors, 3 entries checked\n")
  }

  /// Names that work has had while it was under way, with something of somebody else in them.
  @Test func nothingOfOthersIsInTheWay() throws {
    try fill()
    let source = "\(folder.path)/x.copying"
    try FileManager.default.moveItem(atPath: store, toPath: source)
    for words in [["copy"], ["copy", "--compact"]] {
      #expect(try Tool.kvdump(words + [source, "\(folder.path)/x"]).status == 0)
      try FileManager.default.removeItem(atPath: "\(folder.path)/x")
    }
    let data = "\(folder.path)/y.part"
    try FileManager.default.copyItem(atPath: "\(source)/data.mdb", toPath: data)
    for words in [["export", data, "-f"], ["dump", "--all", data, "-f"], ["report", data]] {
      #expect(try Tool.kvdump(words + ["\(folder.path)/y"]).status == 0, "\(words)")
      try FileManager.default.removeItem(atPath: "\(folder.path)/y")
    }
    try FileManager.default.copyItem(atPath: source, toPath: "\(folder.path)/z.loading")
    let load = "\"$0\" dump --all \"$1\" | \"$0\" load -n \"$2\""
    #expect(try Tool.shell(load, source, "\(folder.path)/z").status == 0)
    for path in [source, data, "\(folder.path)/z.loading"] {
      #expect(try Tool.kvdump("outbox", "list", path).output.hasSuffix("3 pending, 0 dead\n"), "\(path)")
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(left) == ["x.copying", "y.part", "z.loading", "z"], "\(left)")
    for lock in ["lock.mdb", "outbox.lock"] {
      let export = try Tool.kvdump("export", source, "-f", "\(source)/\(lock)")
      #expect(export.status == 73 && export.errors.contains("is a lock of the store"), "\(export.errors)")
    }
  }

  @Test func aMarkOfTheByteOrderIsKept() throws {
    let (one, two) = ("\(folder.path)/one", "\(folder.path)/two")
    let record = #"{"db":"d","k":{"b64":"77u/Ym9t"},"v":{"b64":"77u/Ym9t"}}"#
    let script = """
      echo '\(record)' > "$1.jsonl" && "$0" import "$1" -f "$1.jsonl" && "$0" export "$1" -f "$2.jsonl" \\
        && "$0" import "$2" -f "$2.jsonl" && "$0" diff "$1" "$2"
      """
    let command = try Tool.shell(script, one, two)
    #expect(command.status == 0 && command.output == "", "\(command.output) \(command.errors)")
    #expect(try Tool.kvdump("export", one, "--encoding", "utf8").status == 64)
  }

  @Test func aDumpSaysThatFilesAreNotInIt() throws {
    try fill()
    let load = try Tool.shell("\"$0\" dump --all \"$1\" | \"$0\" load \"$2\"", store, "\(folder.path)/loaded")
    #expect(load.status == 0 && load.errors.contains("the folder `attachments`"), "\(load.errors)")
    let script = "\"$0\" export \"$1\" -f \"$2\" && \"$0\" import \"$3\" -f \"$2\""
    let imported = try Tool.shell(script, store, "\(folder.path)/x.jsonl", "\(folder.path)/imported")
    #expect(imported.status == 0 && imported.errors.contains("the folder `attachments`"), "\(imported.errors)")
  }

  @Test func theDataFileIsInADirectoryWhereverOneStands() throws {
    try fill()
    let target = "\(folder.path)/target"
    let copy = try Tool.shell("cd \"$1\" && \"$0\" copy data.mdb \"$2/\" && \"$0\" info data.mdb", store, target)
    #expect(copy.status == 0 && copy.errors.contains(", with 3 files"), "\(copy.errors)")
    #expect(copy.output.contains("readers    none"), "\(copy.output)")
    #expect(try Tool.kvdump("outbox", "verify", "\(target)//data.mdb").output == "0 errors, 3 entries checked\n")
  }

  @Test func foldersOfOthersStayWhereTheyAre() throws {
    let path = "\(folder.path)/other"
    do {
      let environment = try Environment.open(at: path, databases: ["x"])
      let x = try environment.database("x")
      try environment.write { t in try t.set([1], forKey: "k", in: x) }
    }
    for name in ["files", "attachments"] {
      try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: false)
      try Data([1]).write(to: URL(fileURLWithPath: "\(path)/\(name)/0000000000000001"))
    }
    #expect(try Tool.kvdump("copy", "-q", path, "\(folder.path)/copy").status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/copy") == ["data.mdb"])
  }
}
