import LMDB

@testable import Holdfast

/// A clock that stands until it is set, and whose sleepers wake when their time has come.
final class ManualTime: Sendable {
  private struct State {
    var now: Int64 = 1_000_000_000
    var sleepers: [(end: Int64, waiter: CheckedContinuation<Void, Never>)] = []
    var naps: [Duration] = []
    var watchers: [(number: Int, waiter: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Monitor(State())

  /// How long somebody wanted to sleep, in order.
  var naps: [Duration] { state.update { $0.naps } }

  var time: SystemTime {
    SystemTime(
      now: { self.state.update { $0.now } },
      sleep: { duration in
        await withCheckedContinuation { waiter in
          let served = self.state.update { state in
            state.naps.append(duration)
            state.sleepers.append((state.now + duration.milliseconds, waiter))
            defer { state.watchers.removeAll { $0.number <= state.naps.count } }
            return state.watchers.filter { $0.number <= state.naps.count }
          }
          served.forEach { $0.waiter.resume() }
        }
        try Task.checkCancellation()
      })
  }

  /// Suspends until somebody sleeps for the n-th time. Blocking would take a thread from those who are to sleep.
  func waitForNap(_ number: Int) async {
    await withCheckedContinuation { waiter in
      let isOver = state.update { state in
        if state.naps.count < number { state.watchers.append((number, waiter)) }
        return state.naps.count >= number
      }
      if isOver { waiter.resume() }
    }
  }

  /// Sets the clock forward or back.
  func advance(by duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let due = state.update { state in
      state.now += seconds * 1000 + attoseconds / 1_000_000_000_000_000
      defer { state.sleepers.removeAll { $0.end <= state.now } }
      return state.sleepers.filter { $0.end <= state.now }
    }
    due.forEach { $0.waiter.resume() }
  }
}

extension MemoryCache {
  /// A cache with a clock of the test's.
  convenience init(
    time: ManualTime, countLimit: Int? = nil, costLimit: Int? = nil, ageLimit: Duration? = nil,
    policy: EvictionPolicy = .adaptive
  ) {
    self.init(countLimit: countLimit, costLimit: costLimit, ageLimit: ageLimit, policy: policy, time: time.time)
  }

  /// What must hold at any moment at which no change goes on.
  func check() -> String? {
    let keys = allKeys
    let total = ledger.update { $0.evictor.total }
    let listed = shards.reduce(0) { sum, shard in sum + shard.update { $0.count } }
    if keys.count != total.count || listed != total.count { return "\(keys.count) keys, \(listed) entries, \(total)" }
    if Set(keys).count != keys.count { return "a key is there twice" }
    if total.exceeds(Amount(count: countLimit ?? .max, cost: costLimit ?? .max)) { return "above the limit: \(total)" }
    for shard in shards {
      let isWell = shard.update { shard in
        zip(shard.marks, shard.entries).allSatisfy { ($0 == 0) == ($1.key == nil) && ($0 == 0) == ($1.value == nil) }
      }
      if !isWell { return "an entry without a mark, or a mark without an entry" }
    }
    return nil
  }
}
