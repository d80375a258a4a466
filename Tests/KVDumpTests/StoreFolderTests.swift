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
    #expect(copy.status == 0 && copy.errors.contains(", with 2 files"), "\(copy.errors)")
    let verify = try Tool.kvdump("outbox", "verify", "\(folder.path)/target")
    #expect(verify.status == 1 && verify.output.contains("\(names[0]) is missing"), "\(verify.output)")
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
