import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct MemoTests {
  private let fixture = StateFixture()

  /// Whether the fields of a list are known without a look at the tree.
  private func isKnown(_ keys: [StateKey], in store: Store) throws -> Bool {
    try store.state.memo?.merge(
      of: keys, at: store.environment.lastTransactionID, store.state.session.version, { fixture.now }) != nil
  }

  @Test func aListIsKnownUntilSomethingIsCommitted() async throws {
    let store = try fixture.open()
    let keys: [StateKey] = ["post:1", "user:1"]
    try store.update("post:1", ["a": 1])
    #expect(try !isKnown(keys, in: store))
    #expect(try store.state.merged(keys) == ["a": 1])
    #expect(try isKnown(keys, in: store) && !isKnown(keys.reversed(), in: store))
    #expect(try store.state.merged(keys) == ["a": 1])
    try store.update("user:1", ["a": 2])
    #expect(try store.state.merged(keys) == ["a": 2])
    try store.state.session.update("user:1", ["a": 3])
    #expect(try store.state.merged(keys) == ["a": 3])
    store.state.session.removeAll()
    #expect(try store.state.merged(keys) == ["a": 2])
    await #expect(processExitsWith: .success) { [path = fixture.path as String] in
      try Store.open(at: path).update("user:1", ["a": 4])
      exit(0)
    }
    #expect(try store.state.merged(keys) == ["a": 4], "a commit of another process counts too")
  }

  @Test func whatExpiresIsNotKnownAnyMore() throws {
    let store = try fixture.open()
    try store.update("post:1", ["a": 1], expires: .after(.seconds(1)))
    #expect(try store.state.merged(["post:1"]) == ["a": 1])
    #expect(try isKnown(["post:1"], in: store))
    fixture.advance(1000)
    #expect(try store.state.merged(["post:1"]) == [:])
  }

  @Test func whatHasExpiredIsThereAgainIfTheClockIsSetBack() throws {
    let store = try fixture.open()
    try store.update("post:1", ["a": 1], expires: .after(.seconds(1)))
    try store.state.session.update("user:1", ["b": 2], expires: .after(.seconds(2)))
    let keys: [StateKey] = ["post:1", "user:1"]
    fixture.advance(5000)
    #expect(try store.state.merged(keys) == [:])
    #expect(try isKnown(keys, in: store))
    fixture.advance(-3500)
    #expect(try store.state.merged(keys) == ["b": 2])
    fixture.advance(-1000)
    #expect(try store.state.merged(keys) == ["a": 1, "b": 2])
    #expect(try store.state.withMerged(keys) { try $0.fields() } == ["a": 1, "b": 2])
  }

  /// Whenever it expires while it is read, it is not there when it is read again.
  @Test func whatExpiresWhileItIsReadIsNotKept() throws {
    let reads = Monitor<Int64>(0)
    let time = SystemTime(
      now: {
        reads.update { reads in
          reads += 1
          return reads
        }
      }, sleep: { _ in })
    let store = try Store.open(at: fixture.path, time: time)
    for wait in 1...12 as ClosedRange<Int64> {
      try store.update("post:1", ["a": 1], expires: .after(.milliseconds(wait)))
      try store.state.session.update("user:1", ["b": 1], expires: .after(.milliseconds(wait)))
      _ = try store.state.merged(["post:1", "user:1"])
      reads.update { $0 += 100 }
      #expect(try store.state.merged(["post:1", "user:1"]) == [:], "\(wait)")
    }
  }

  /// Whenever the clock is set back while it is read, what is over is not kept as if it were not.
  @Test func whatIsOverIsNotKeptWhenTheClockIsSetBackMeanwhile() throws {
    // The time, and after how many looks at it the clock is set back.
    let clock = Monitor<(now: Int64, looks: Int)>((1000, 0))
    let time = SystemTime(
      now: {
        clock.update { clock in
          clock.looks -= 1
          if clock.looks == 0 { clock.now -= 10 }
          return clock.now
        }
      }, sleep: { _ in })
    let store = try Store.open(at: fixture.path, time: time)
    for looks in 1...8 {
      try store.update("post:1", ["a": 1], expires: .after(.milliseconds(100)))
      try store.state.session.update("user:1", ["b": 1], expires: .after(.milliseconds(100)))
      clock.update { $0 = ($0.now + 105, looks) }
      _ = try store.state.merged(["post:1", "user:1"])
      clock.update { $0 = ($0.now + 100, 0) }
      #expect(try store.state.merged(["post:1", "user:1"]) == [:], "after \(looks) looks")
    }
  }

  /// LMDB may show a commit under the number of the one two before it.
  @Test func whatMayBeOfALaterCommitIsNotKept() throws {
    let store = try fixture.open()
    let lists: [[StateKey]] = [["post:1"], ["post:1", "user:1"], ["post:1", "user:2"]]
    try store.update("post:1", ["a": 1])
    try store.environment.read { transaction in
      for (commits, keys) in lists.enumerated() {
        #expect(try store.state.remembered(keys, in: transaction).fields == ["a": 1])
        let known = store.state.memo?.merge(
          of: keys, at: transaction.id, store.state.session.version, { fixture.now })
        #expect((known != nil) == (commits < 2))
        try store.update("post:1", ["a": 2])
      }
    }
  }

  @Test func anyLimitIsTaken() throws {
    for limit in [Int.min, -1, 1, 7, .max] {
      let store = try fixture.open(StateOptions(memoLimit: limit))
      #expect(try store.state.merged(["post:1"]) == [:])
    }
  }

  @Test func itCanBeSwitchedOffAndIsBounded() throws {
    let off = try fixture.open(StateOptions(memoLimit: 0))
    #expect(off.state.memo == nil)
    #expect(try off.state.merged(["post:1"]) == [:])
    let store = try fixture.open(StateOptions(memoLimit: 3))
    for number in 0..<100 { #expect(try store.state.merged(["post:\(number)"]) == [:]) }
    var known = 0
    for number in 0..<100 where try isKnown(["post:\(number)"], in: store) { known += 1 }
    #expect(known <= 3)
    try store.update("big:1", ["a": .bytes([UInt8](repeating: 1, count: 20_000))])
    #expect(try store.state.merged(["big:1"]).count == 1)
    #expect(try !isKnown(["big:1"], in: store))
  }

  @Test func halfAsManyListsAsPlacesAreAlmostAllKept() throws {
    let store = try fixture.open(StateOptions(memoLimit: 512))
    let lists = (0..<256).map { [StateKey](["post:\($0)", "user:\($0)"]) }
    for _ in 0..<2 { for keys in lists { #expect(try store.state.merged(keys) == [:]) } }
    let known = try lists.count { try isKnown($0, in: store) }
    #expect(known >= 240, "with one place a list it would be about 200")
  }

  @Test func listsThatAreNotUsedAnyMoreGiveWay() throws {
    let store = try fixture.open(StateOptions(memoLimit: 512))
    for part in ["old", "new"] {
      let lists = (0..<256).map { [StateKey](["\(part):\($0)", "user:\($0)"]) }
      for _ in 0..<5 { for keys in lists { #expect(try store.state.merged(keys) == [:]) } }
      let known = try lists.count { try isKnown($0, in: store) }
      #expect(known >= 240, "\(part)")
    }
  }

  @Test func aTransactionOfItsOwnSeesItsChanges() throws {
    let store = try fixture.open()
    #expect(try store.state.merged(["post:1"]) == [:])
    try store.write { t in
      try store.state.update("post:1", ["a": 1], in: &t)
      let fields = try store.state.merged(["post:1"], in: t)
      #expect(fields == ["a": 1])
    }
    #expect(try store.state.merged(["post:1"]) == ["a": 1])
  }

  @Test func readersAndAWriterAgree() async throws {
    let store = try fixture.open()
    let keys: [StateKey] = ["a:1", "b:1"]
    let writer = Task {
      for n in 1...300 {
        try store.write { t in for key in keys { try store.state.update(key, [key.type: .int(Int64(n))], in: &t) } }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          var last: Int64 = 0
          for _ in 0..<3000 {
            let fields = try store.state.merged(keys)
            let now = fields["a"]?.intValue ?? 0
            #expect(fields["b"]?.intValue ?? 0 == now && now >= last)
            last = now
          }
        }
      }
      try await group.waitForAll()
    }
    try await writer.value
    #expect(try store.state.merged(keys) == ["a": 300, "b": 300])
  }
}
