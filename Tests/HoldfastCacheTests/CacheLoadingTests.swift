import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Loading (S20).
@Suite struct CacheLoadingTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  struct Failure: Error {}

  private func open(random: Double = 0.5) throws -> Cache<String> {
    var system = machine.system
    system.random = { random }
    return Cache(
      try DiskCache.open(at: directory.path, configuration: .init(), system: system), codec: StringCodec())
  }

  /// It would wait for itself: at once, by way of another key, and where a value that is stale is given out meanwhile.
  @Test func aLoadThatAsksForItsOwnKeyIsAnError() async throws {
    let cache = try open()
    func isRefused(_ error: any Error) -> Bool {
      (error as? StoreError)?.code == .invalidKey && "\(error)".contains("load of \"a\"")
    }
    await #expect {
      try await cache.object(forKey: "a") { try await cache.object(forKey: "a") { "1" } }
    } throws: {
      isRefused($0)
    }
    await #expect {
      try await cache.object(forKey: "a") {
        try await cache.object(forKey: "b") { try await cache.object(forKey: "a") { "1" } }
      }
    } throws: {
      isRefused($0)
    }
    // Another key is another load, and the next load of the same key knows nothing of this one.
    let text = try await cache.object(forKey: "a") { try await cache.object(forKey: "b") { "1" } + "2" }
    #expect(text == "12")
    #expect(cache.statistics.loads == 5 && cache.statistics.failedLoads == 3)
  }

  /// Lets loads begin and end when a test says so.
  final class Gate: Sendable {
    private struct State {
      var began = 0
      var isOpen = false
      var waiters: [CheckedContinuation<Void, Never>] = []
      var cancelled = 0
    }
    private let state = Monitor(State())

    var began: Int { state.update { $0.began } }
    var cancelled: Int { state.update { $0.cancelled } }

    func pass() async {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isOpen = state.update { state in
            state.began += 1
            if !state.isOpen { state.waiters.append(continuation) }
            return state.isOpen
          }
          if isOpen { continuation.resume() }
        }
      } onCancel: {
        state.update { $0.cancelled += 1 }
        open()
      }
    }

    func open() {
      let waiters = state.update { state in
        state.isOpen = true
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter.resume() }
    }
  }

  private func until(_ condition: () throws -> Bool) async rethrows {
    while try !condition() { await Task.yield() }
  }

  @Test func aThousandTasksLoadOnce() async throws {
    let cache = try open()
    let gate = Gate()
    let loads = Monitor(0)
    let values = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<1000 {
        group.addTask {
          try await cache.object(forKey: "a") {
            loads.update { $0 += 1 }
            await gate.pass()
            return "loaded"
          }
        }
      }
      await until { gate.began > 0 }
      gate.open()
      var values: [String] = []
      for try await value in group { values.append(value) }
      return values
    }
    #expect(values.count == 1000 && values.allSatisfy { $0 == "loaded" })
    #expect(loads.update { $0 } == 1)
    #expect(try cache.object(forKey: "a") == "loaded")
  }

  @Test func errorsAreNotKept() async throws {
    let cache = try open()
    await #expect(throws: Failure.self) { try await cache.object(forKey: "a") { throw Failure() } }
    #expect(try await cache.object(forKey: "a") { "second" } == "second")
  }

  /// A stale value never waits for its refresh.
  @Test func staleValuesAreGivenOutWhileANewOneIsLoaded() async throws {
    let cache = try open()
    let policy = CacheLoadPolicy(freshFor: .seconds(10), staleWhileRevalidate: .seconds(60))
    #expect(try await cache.object(forKey: "a", policy: policy) { "old" } == "old")
    machine.advance(.seconds(9))
    #expect(try await cache.object(forKey: "a", policy: policy) { "never" } == "old")
    machine.advance(.seconds(2))
    let gate = Gate()
    for _ in 0..<3 {
      let value = try await cache.object(forKey: "a", policy: policy) {
        await gate.pass()
        return "new"
      }
      #expect(value == "old")
    }
    gate.open()
    try await until { try cache.object(forKey: "a") == "new" }
    #expect(gate.began == 1)
    machine.advance(.seconds(71))
    #expect(try await cache.object(forKey: "a", policy: policy) { "third" } == "third", "too old to be given out")
  }

  @Test func staleValuesStandInForErrors() async throws {
    let cache = try open()
    let policy = CacheLoadPolicy(freshFor: .seconds(10), staleIfError: .seconds(60))
    #expect(try await cache.object(forKey: "a", policy: policy) { "old" } == "old")
    machine.advance(.seconds(11))
    #expect(try await cache.object(forKey: "a", policy: policy) { throw Failure() } == "old")
    #expect(try await cache.object(forKey: "a", policy: policy) { "new" } == "new", "and it is tried again")
    machine.advance(.seconds(71))
    await #expect(throws: Failure.self) { try await cache.object(forKey: "a", policy: policy) { throw Failure() } }
  }

  /// XFetch: with ten seconds of loading and the middle of the dice, the last seven seconds are early.
  @Test func valuesThatTakeLongAreRefreshedEarly() async throws {
    let cache = try open(random: 0.5)
    let policy = CacheLoadPolicy(freshFor: .seconds(100), earlyRefresh: 1)
    let machine = machine
    _ = try await cache.object(forKey: "a", policy: policy) {
      machine.advance(.seconds(10))
      return "old"
    }
    machine.advance(.milliseconds(93_000))
    #expect(try await cache.object(forKey: "a", policy: policy) { "no" } == "old")
    machine.advance(.milliseconds(100))
    #expect(try await cache.object(forKey: "a", policy: policy) { "new" } == "old")
    try await until { try cache.object(forKey: "a") == "new" }
  }

  @Test func decisions() {
    let policy = CacheLoadPolicy(
      freshFor: .seconds(10), staleWhileRevalidate: .seconds(5), staleIfError: .seconds(20), earlyRefresh: 2)
    func step(_ now: Int64, _ random: Double = 0.99999) -> CacheLoadPolicy.Step {
      policy.step(freshUntil: 10_000, loadTime: 1000, now: now, random: random)
    }
    #expect(step(0) == .use && step(9999) == .use && step(9999, 0.5) == .useAndRefresh)
    #expect(step(10_000) == .useAndRefresh && step(14_999) == .useAndRefresh)
    #expect(
      step(15_000) == .load(orUse: true) && step(29_999) == .load(orUse: true) && step(30_000) == .load(orUse: false))
    #expect(step(7227, 0.25) == .use && step(7228, 0.25) == .useAndRefresh, "-2 ln 0.25 is 2.7726")
    #expect(step(0, 0) == .useAndRefresh, "the dice may fall on zero")
    #expect(policy.step(freshUntil: 0, loadTime: 1000, now: 1 << 50, random: 0) == .use)
  }

  @Test func aSetOrRemovalMeanwhileWins() async throws {
    let cache = try open()
    for change in 0..<4 {
      let gate = Gate()
      let load = Task {
        try await cache.object(forKey: "a") {
          await gate.pass()
          return "loaded"
        }
      }
      await until { gate.began == 1 }
      switch change {
      case 0: try await cache.setObject("set", forKey: "a")
      case 1: try await cache.removeObject(forKey: "a")
      case 2: try await cache.removeAllObjects()
      default:
        _ = try await cache.diskCache.setValue(
          Array("direct".utf8), forKey: "a", codec: StringCodec().id, options: .init())
      }
      gate.open()
      #expect(try await load.value == "loaded", "who waits still gets it")
      #expect(try cache.object(forKey: "a") == ["set", nil, nil, "direct"][change])
      try await cache.removeObject(forKey: "a")
    }
  }

  @Test func aLoadEndsWithItsLastWaiter() async throws {
    let cache = try open()
    let gate = Gate()
    let tasks = (0..<3).map { _ in
      Task {
        try await cache.object(forKey: "a") {
          await gate.pass()
          return "loaded"
        }
      }
    }
    await until { gate.began == 1 && cache.flights.update { $0[CacheKey("a")]?.waiterCount } == 3 }
    tasks[0].cancel()
    tasks[1].cancel()
    for task in tasks[..<2] { await #expect(throws: CancellationError.self) { try await task.value } }
    #expect(gate.cancelled == 0)
    tasks[2].cancel()
    await #expect(throws: CancellationError.self) { try await tasks[2].value }
    await until { gate.cancelled == 1 }
    #expect(try await cache.object(forKey: "a") { "new" } == "new", "the abandoned load is nobody's")
  }
}
