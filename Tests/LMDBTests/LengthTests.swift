import Foundation
import LMDB
import TestSupport
import Testing

/// Files that are shorter than their header says.
@Suite struct LengthTests {
  static let unsynced = Environment.Options(durability: .unsafeNoSync)

  static func size(_ path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path + "/data.mdb")[.size] as? Int ?? 0
  }

  /// A transaction that needs many pages and gives them back leaves a file that never had them.
  @Test func aHealthyShortFileOpens() throws {
    let scratch = TemporaryDirectory()
    do {
      let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
      // LMDB gives pages back unwritten once it has a list of free ones.
      for n in 0..<4 { try environment.set("\(n)", "k", in: a) }
      try environment.write { t in
        try t.set([UInt8](repeating: 1, count: 3000), forKey: "0", in: a)
        try t.set([UInt8](repeating: 1, count: 300_000), forKey: "1", in: a)
        try t.removeValue(forKey: "1", in: a)
      }
    }
    let before = try Self.size(scratch())
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    let info = try environment.info()
    #expect(before < info.usedPages * info.pageSize)
    #expect(try Self.size(scratch()) == info.usedPages * info.pageSize)
    #expect(try environment.text("0", in: a)?.utf8.count == 3000)
    try environment.verify()
  }

  /// Cut at each page behind its roots; whether the cut took something that is in use is what opening must find out.
  /// In the last style the roots lie at the start, in pages that were free, so that only the list of free pages tells.
  @Test(arguments: [0, 1, 2]) func aFileThatHasBeenCutOffIsRefused(_ style: Int) async throws {
    await #expect(processExitsWith: .success) { [style = style as Int] in
      let scratch = TemporaryDirectory()
      let path = scratch()
      do {
        let (environment, a) = try Environment.make(at: path, LengthTests.unsynced)
        for round in 0..<4 {
          try environment.write { t in
            for n in 0..<60 where style == 0 || n % 3 != round % 3 {
              try t.set([UInt8](repeating: UInt8(round), count: n * 40), forKey: "\(n)", in: a)
            }
            if style == 1 { for n in stride(from: 0, to: 60, by: 4) { try t.removeValue(forKey: "\(n)", in: a) } }
          }
        }
        if style == 2 {
          try environment.write { t in
            for n in 100..<200 { try t.set([UInt8](repeating: 1, count: 1000), forKey: "x\(n)", in: a) }
          }
          try environment.write { t in
            for n in 100..<140 { try t.removeValue(forKey: "x\(n)", in: a) }
            for n in 0..<60 { try t.removeValue(forKey: "\(n)", in: a) }
          }
          for n in 0..<6 { try environment.set("\(n)", "x150", in: a) }
        }
      }
      let whole = try Data(contentsOf: URL(filePath: path + "/data.mdb"))
      var refusals = 0
      for pages in stride(from: whole.count / 4096 - 1, to: 2, by: -1) {
        let cut = whole.prefix(pages * 4096 + 100)
        try cut.write(to: URL(filePath: path + "/data.mdb"))
        do {
          let (environment, a) = try Environment.make(at: path, LengthTests.unsynced)
          // Only free pages were missing.
          try environment.verify()
          try environment.set("more", "k", in: a)
        } catch let error as StoreError {
          refusals += 1
          #expect(error.code == .damaged && error.message.contains("cut off"), "\(error)")
          let size = try LengthTests.size(path)
          #expect(size == cut.count)
        }
      }
      #expect(refusals > 5)
    }
  }
}
