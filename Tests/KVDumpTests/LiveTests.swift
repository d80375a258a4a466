import Foundation
import LMDB
import TestSupport
import Testing

/// The tool beside a program that writes.
@Suite struct LiveTests {
  private let folder = TemporaryDirectory()
  private var path: String { "\(folder.path)/e" }

  private static func write(_ number: Int, to environment: Environment) throws {
    let x = try environment.database("x")
    let value = Array("value \(number)".utf8)
    try environment.write { t in
      for key in 0..<100 { try t.set(value.span, forKey: Array("key\(key)".utf8).span, in: x) }
    }
  }

  /// Runs `body` beside a thread that writes: not a task, which would wait for a thread that `body` may be blocking.
  private func writing(_ body: () throws -> Void) throws {
    let environment = try Environment.open(
      at: path, databases: ["x"], options: .init(durability: .unsafeNoSync))
    try Self.write(0, to: environment)
    let isOver = Monitor(false)
    let writer = Thread {
      var number = 1
      while !isOver.update({ $0 }), (try? Self.write(number, to: environment)) != nil { number += 1 }
    }
    writer.start()
    defer {
      isOver.update { $0 = true }
      while !writer.isFinished { Thread.sleep(forTimeInterval: 0.01) }
    }
    try body()
  }

  @Test func aDumpIsOneCommitOrRefused() throws {
    try writing {
      let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
      for _ in 0..<10 {
        let command = try Tool.kvdump("cat", "--values", "-F", "raw0", path, "x")
        #expect([0, 75].contains(command.status), "\(command.errors)")
        if command.status == 75 { #expect(command.errors.contains("--lock")) }
        if command.status == 0 { #expect(Set(command.output.split(separator: "\0")).count == 1) }
      }
      for _ in 0..<5 {
        let command = try Tool.kvdump("cat", "--lock", "--values", "-F", "raw0", path, "x")
        let values = command.output.split(separator: "\0")
        #expect(command.status == 0 && values.count == 100 && Set(values).count == 1, "\(command.errors)")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == names)
    }
  }

  @Test func commitsAreWatched() throws {
    try writing {
      let command = try Tool.kvdump("watch", path, "--interval", "0.01", "--commits", "2", "--lock")
      #expect(command.status == 64)
      let watch = try Tool.kvdump("watch", path, "--interval", "0.05", "--commits", "2", "-F", "jsonl")
      #expect([0, 75].contains(watch.status))
      if watch.status == 0 { #expect(watch.output.split(separator: "\n").count == 2) }
    }
  }
}
