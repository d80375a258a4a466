import Foundation
import LMDB
import LMDBFile
import TestSupport
import Testing

/// Reading beside a writer, without a lock: what is accepted is one commit, whole.
@Suite struct SnapshotTests {
  /// Every record of a commit has the number of that commit as its value, so that a mixture shows.
  private static func write(_ number: UInt64, to environment: Environment, _ database: LMDB.Database, keys: Int) throws
  {
    let value = (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) } + [UInt8](repeating: 7, count: 90)
    try environment.write { t in
      for key in 0..<keys { try t.set(value.span, forKey: Array("key\(key)".utf8).span, in: database) }
    }
  }

  private static func values(_ snapshot: Snapshot) throws -> Set<[UInt8]> {
    let tree = try snapshot.database(Array("x".utf8))
    var records = try RecordCursor(snapshot, tree)
    var found: Set<[UInt8]> = []
    while try records.next() { found.insert(Array(try records.value().prefix(8))) }
    try records.finish()
    return found
  }

  @Test func aSnapshotIsIntactForOneMoreCommit() throws {
    let folder = TemporaryDirectory()
    let environment = try Environment.open(
      at: "\(folder.path)/e", databases: ["x"], options: .init(durability: .unsafeNoSync))
    let x = try environment.database("x")
    for number in 1...5 { try Self.write(UInt64(number), to: environment, x, keys: 50) }
    let snapshot = try Snapshot(try DataFile(at: "\(folder.path)/e"))
    #expect(try snapshot.isIntact() && Self.values(snapshot).count == 1)
    try Self.write(6, to: environment, x, keys: 50)
    #expect(try snapshot.isIntact())
    let values = try Self.values(snapshot)
    #expect(values.count == 1 && values.first?[0] == 5)
    try Self.write(7, to: environment, x, keys: 50)
    #expect(try !snapshot.isIntact())
  }

  /// HOLDFAST_STRESS is how many snapshots are read; 300 without.
  @Test func whatIsAcceptedBesideAWriterIsOneCommit() async throws {
    let rounds = setting("HOLDFAST_STRESS", or: 300)
    let folder = TemporaryDirectory()
    let path = "\(folder.path)/e"
    let environment = try Environment.open(at: path, databases: ["x"], options: .init(durability: .unsafeNoSync))
    let x = try environment.database("x")
    try Self.write(1, to: environment, x, keys: 40)
    let writer = Task.detached {
      var number: UInt64 = 2
      while !Task.isCancelled {
        try Self.write(number, to: environment, x, keys: 40)
        number += 1
      }
      return number
    }
    var (accepted, refused, wrong) = (0, 0, 0)
    while accepted + refused < rounds || accepted == 0 && refused < 100 * rounds {
      let snapshot = try Snapshot(try DataFile(at: path))
      // What pages say that have been reused counts for nothing.
      let values = Result { try Self.values(snapshot) }
      guard try snapshot.isIntact() else {
        refused += 1
        continue
      }
      accepted += 1
      let expected = try? values.get()
      if expected?.count != 1 { wrong += 1 }
    }
    writer.cancel()
    _ = try await writer.value
    #expect(wrong == 0 && accepted > 0, "\(accepted) accepted, \(refused) refused")
  }

  @Test func readersAreSeenWithoutJoiningThem() throws {
    let folder = TemporaryDirectory()
    let path = "\(folder.path)/e"
    let environment = try Environment.open(at: path, databases: ["x"])
    let x = try environment.database("x")
    try Self.write(1, to: environment, x, keys: 1)
    let file = try DataFile(at: path)
    let table = try environment.read { _ in try LockTable(of: file) }
    let reader = try #require(table?.readers.first { $0.transactionID != nil })
    #expect(reader.processID == getpid() && reader.isAlive)
    #expect(reader.transactionID == (try Snapshot(file).meta.transactionID))
  }
}
