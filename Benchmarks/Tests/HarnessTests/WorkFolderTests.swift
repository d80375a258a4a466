import Foundation
import Harness
import Testing

struct WorkFolderTests {
  private let directory = "\(NSTemporaryDirectory())/holdfast-bench-tests-\(UUID().uuidString)"

  private func bench() -> Bench {
    Bench(effort: .init(rounds: 3...5, workloadTime: 1, sliceTime: 1, isQuick: true), directory: directory)
  }

  @Test("What ended runs left is removed, and nothing else: neither folders with numbers for names nor running ones")
  func leftovers() throws {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let gone = Int32.max - 1
    // Process 1 runs, and may belong to somebody else.
    let others = ["2023", "\(gone)", "holdfast-bench-notes", "holdfast-bench-1", "holdfast-bench-"]
    for name in others + ["holdfast-bench-\(gone)"] {
      try FileManager.default.createDirectory(atPath: "\(directory)/\(name)", withIntermediateDirectories: true)
    }
    try bench().removeLeftovers()
    #expect(try Set(FileManager.default.contentsOfDirectory(atPath: directory)) == Set(others))
  }

  @Test("A destination is checked without touching what is there")
  func destination() throws {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try Data("old".utf8).write(to: URL(filePath: "\(directory)/old"))
    try Destination.check("\(directory)/old")
    try Destination.check("\(directory)/new")
    #expect(throws: DestinationError.self) { try Destination.check(directory) }
    #expect(throws: DestinationError.self) { try Destination.check("\(directory)/missing/new") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["old"])
    #expect(try String(contentsOfFile: "\(directory)/old", encoding: .utf8) == "old")
  }
}
