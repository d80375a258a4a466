import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// The list of changes is damaged, which stops all updates where it is its end, and is put right.
@Suite struct RepairTests {
  /// A store with changes 1 to 5, after `damage` has been done to their rows.
  private func make(
    _ fixture: StateFixture, _ damage: (inout WriteTransaction, Database) throws -> Void
  ) throws -> Store {
    let store = try fixture.open()
    for n in 1...5 { try store.update("t:\(n)", ["n": .int(Int64(n))]) }
    let log = store.state.rows.log.changes
    try store.commit { t in try damage(&t, log) }
    return store
  }

  private func key(_ stamp: UInt64) -> [UInt8] { stamp.bigEndianBytes }

  private func stamps(_ store: Store) throws -> [UInt64] {
    try store.read { t in
      try t.keys(of: .all, in: store.state.rows.log.changes, limit: 99).map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
    }
  }

  /// What a reader who knows the first three changes is told after the repair and one more change.
  private func expect(_ expected: [StateChange], of store: Store, rows: [UInt64]) throws {
    #expect(throws: (any Error).self) { try store.state.verify() }
    try store.state.verify(repair: true)
    #expect(try stamps(store) == rows)
    try store.update("t:6", ["n": 6])
    try store.state.verify()
    let told = try store.read { t in try store.state.rows.log.changes(after: 3, limit: 99, in: t).changes }
    #expect(told == expected + [.record("t:6", fields: ["n"], stamp: (rows.last ?? 0) + 1)])
    for n in 1...6 as ClosedRange<Int64> { #expect(try store.state.merged(["t:\(n)"])["n"] == .int(n)) }
  }

  private let four = StateChange.record("t:4", fields: ["n"], stamp: 4)
  private let five = StateChange.record("t:5", fields: nil, stamp: 5)

  @Test(arguments: [
    [0xFF, 1], UInt64.max.bigEndianBytes, UInt64(1 << 40).bigEndianBytes, [1], [0, 0, 0, 0, 0, 0, 0, 6, 0],
  ])
  func aRowThatNobodyWroteGoes(_ row: [UInt8]) throws {
    let fixture = StateFixture()
    let store = try make(fixture) { t, log in try t.set([9], forKey: row, in: log) }
    if row[0] == 0xFF { #expect(throws: StoreError.self) { try store.update("t:6", ["n": 6]) } }
    try expect([four, .record("t:5", fields: ["n"], stamp: 5)], of: store, rows: [1, 2, 3, 4, 5])
  }

  @Test(arguments: [false, true], [[], [7]] as [[UInt8]])
  func aLastRowThatIsLostIsWrittenAgain(_ isMoved: Bool, _ rest: [UInt8]) throws {
    let fixture = StateFixture()
    let store = try make(fixture) { t, log in
      if rest.isEmpty { try t.remove(key(5), in: log) } else { try t.set(rest, forKey: key(5), in: log) }
      if isMoved { try t.set([7], forKey: [0xFF, 5], in: log) }
    }
    try expect([four, five], of: store, rows: [1, 2, 3, 4, 5])
  }

  @Test func aGapIsTold() throws {
    let fixture = StateFixture()
    let store = try make(fixture) { t, log in
      for n in [4, 5] as [UInt64] { try t.remove(key(n), in: log) }
    }
    try expect([.lagged(missed: 1), five], of: store, rows: [1, 2, 3, 4, 5])
  }

  /// What was lost is still so after another repair, and takes the place that it had.
  @Test func whatIsLostStaysLost() throws {
    let fixture = StateFixture()
    let store = try make(fixture) { t, log in
      for n in [1, 2, 5] as [UInt64] { try t.remove(key(n), in: log) }
    }
    let lost = [.lagged(missed: 2), .record("t:3", fields: ["n"], stamp: 3), four, five] as [StateChange]
    #expect { try store.state.verify() } throws: { "\($0)".contains("change 1 is missing") }
    for _ in 0..<2 {
      try store.state.verify(repair: true)
      #expect(try stamps(store) == [1, 2, 3, 4, 5])
      #expect(try store.read { t in try store.state.rows.log.changes(after: 0, limit: 99, in: t).changes } == lost)
    }
  }

  @Test func whatIsSoundStaysAsItIs() throws {
    let fixture = StateFixture()
    let store = try make(fixture) { _, _ in }
    try store.state.verify(repair: true)
    #expect(try stamps(store) == [1, 2, 3, 4, 5])
    #expect(try store.read { t in try store.state.rows.log.changes(after: 0, limit: 99, in: t).changes.count } == 5)
  }
}
