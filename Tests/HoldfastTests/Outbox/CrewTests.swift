import LMDB
import Testing

@testable import Holdfast

@Suite struct CrewTests {
  private let wakeUp = WakeUp()

  private static func claims(_ ids: Range<UInt64>) -> [Outbox.Claim] {
    ids.map { id in
      let entry = OutboxEntry(OutboxRequest(kind: "k", lane: "\(id)", payload: []), id: EntryID(rawValue: id))
      return Outbox.Claim(entry, DeliveryState(notBefore: 0), mustReconcile: false)
    }
  }

  /// Waits until so many attempts have come back.
  private func results(_ count: Int, of crew: Crew) async -> [DrainTurn.Finished] {
    var all: [DrainTurn.Finished] = []
    while true {
      all += crew.takeFinished()
      if all.count >= count { return all }
      await wakeUp.wait()
    }
  }

  @Test func noClaimWaitsForAnAttempt() async {
    let begun = Monitor(0)
    let crew = Crew(wakeUp) { _ in
      begun.update { $0 += 1 }
      while begun.update({ $0 < 100 }) { await Task.yield() }
      return .sent(.delivered(reply: []))
    }
    crew.begin(Self.claims(0..<60))
    crew.begin(Self.claims(60..<100))
    let ids = await results(100, of: crew).map(\.claim.entry.id.rawValue)
    #expect(ids.sorted() == Array(0..<100))
    await crew.disband()
  }

  @Test func theTaskOfACancelledAttemptMakesNoOther() async {
    let begun = Monitor<Set<UInt64>>([])
    let crew = Crew(wakeUp) { claim in
      let id = claim.entry.id.rawValue
      begun.update { _ = $0.insert(id) }
      if id == 0 { while !Task.isCancelled { await Task.yield() } }
      return .sent(Task.isCancelled ? .interrupted : .delivered(reply: []))
    }
    crew.begin(Self.claims(0..<3))
    let first = await results(2, of: crew)
    #expect(first.allSatisfy { $0.result.outcome == .delivered(reply: []) })
    crew.cancel(EntryID(rawValue: 0))
    crew.cancel(EntryID(rawValue: 7))
    crew.begin(Self.claims(3..<50))
    let rest = await results(48, of: crew)
    #expect(rest.filter { $0.result.outcome == .interrupted }.map(\.claim.entry.id.rawValue) == [0])
    await crew.disband()
  }

  @Test func afterTheEndEachAttemptIsCancelled() async {
    let crew = Crew(wakeUp) { _ in
      while !Task.isCancelled { await Task.yield() }
      return .sent(.transient(reason: "cut short"))
    }
    crew.begin(Self.claims(0..<5))
    crew.cancelAll()
    crew.begin(Self.claims(5..<9))
    let outcomes = await results(9, of: crew).map(\.result.outcome)
    #expect(outcomes.allSatisfy { $0 == .interrupted })
    await crew.disband()
  }
}
