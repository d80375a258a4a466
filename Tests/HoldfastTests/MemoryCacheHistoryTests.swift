import Synchronization
import TestSupport
import Testing

@testable import Holdfast

/// Eight tasks use one cache; what they saw must be the outcome of one order of their operations.
///
/// HOLDFAST_SEED repeats the programs of a run, though not how they interleave; HOLDFAST_ROUNDS makes it longer.
@Suite struct MemoryCacheHistoryTests {
  @Test(arguments: EvictionPolicy.allCases) func isLinearizable(_ policy: EvictionPolicy) async throws {
    let seed = UInt64(setting("HOLDFAST_SEED", or: Int.random(in: 0..<1_000_000)))
    print("memory cache history \(policy), seed \(seed)")
    let cache = MemoryCache<Int, Int>(policy: policy)
    for round in 0..<setting("HOLDFAST_ROUNDS", or: 15) {
      cache.removeAllObjects()
      let clock = Clock()
      let histories = await withTaskGroup(of: [Event].self) { group in
        for task in 0..<8 {
          group.addTask {
            var generator = SeededGenerator(seed: seed &+ UInt64(round * 8 + task))
            return (0..<120).map { step in
              clock.time(of: Action(&generator, value: task * 1000 + step)) { $0.run(in: cache) }
            }
          }
        }
        return await group.reduce(into: []) { $0 += $1 }
      }
      for key in 0..<Action.keys {
        let events = histories.filter { $0.action.concerns(key) }.sorted { $0.start < $1.start }
        try #require(History(key: key, events: events).hasOrder(), "seed \(seed), round \(round): \(events)")
      }
      #expect(cache.check() == nil)
    }
  }

  /// The checker must see a wrong answer where there is one.
  @Test func theCheckerSeesWrongAnswers() {
    func history(_ events: [(Action, Int?, Int, Int)]) -> Bool {
      History(key: 1, events: events.map { Event(action: $0.0, found: $0.1, start: $0.2, end: $0.3) }).hasOrder()
    }
    #expect(history([(.set(1, 5), nil, 0, 1), (.get(1), 5, 2, 3)]))
    #expect(!history([(.set(1, 5), nil, 0, 1), (.get(1), nil, 2, 3)]))
    #expect(history([(.set(1, 5), nil, 0, 3), (.get(1), nil, 1, 2)]))
    #expect(!history([(.set(1, 5), nil, 0, 1), (.set(1, 6), nil, 2, 3), (.get(1), 5, 4, 5)]))
    #expect(history([(.set(1, 5), nil, 0, 3), (.set(1, 6), nil, 1, 2), (.get(1), 5, 4, 5)]))
    #expect(!history([(.set(1, 5), nil, 0, 1), (.removeAll, nil, 2, 3), (.get(1), 5, 4, 5)]))
    #expect(history([(.set(1, 5), nil, 0, 1), (.trim, nil, 2, 3), (.get(1), 5, 4, 5)]))
    #expect(!history([(.set(1, 5), nil, 0, 1), (.trim, nil, 2, 9), (.get(1), nil, 3, 4), (.get(1), 5, 5, 6)]))
  }
}

private enum Action: Sendable {
  static let keys = 64
  case get(Int)
  case set(Int, Int)
  case remove(Int)
  case removeAll
  case trim

  init(_ generator: inout SeededGenerator, value: Int) {
    let key = Int.random(in: 0..<Self.keys, using: &generator)
    switch Int.random(in: 0..<200, using: &generator) {
    case 0..<100: self = .get(key)
    case 100..<170: self = .set(key, value)
    case 170..<197: self = .remove(key)
    case 197: self = .removeAll
    default: self = .trim
    }
  }

  func concerns(_ other: Int) -> Bool {
    switch self {
    case .get(let key), .set(let key, _), .remove(let key): key == other
    case .removeAll, .trim: true
    }
  }

  /// - Returns: What was found.
  func run(in cache: MemoryCache<Int, Int>) -> Int? {
    switch self {
    case .get(let key): return cache.object(forKey: key)
    case .set(let key, let value): cache.setObject(value, forKey: key)
    case .remove(let key): return cache.removeObject(forKey: key) ? 1 : nil
    case .removeAll: cache.removeAllObjects()
    case .trim: cache.trim(toCount: 20)
    }
    return nil
  }
}

private struct Event: Sendable {
  let action: Action
  let found: Int?
  let start: Int
  let end: Int
}

/// Numbers moments, in an order that all tasks agree about.
private final class Clock: Sendable {
  private let next = Atomic(0)
  private var tick: Int { next.add(1, ordering: .sequentiallyConsistent).oldValue }

  func time(of action: Action, _ body: (Action) -> Int?) -> Event {
    let start = tick
    let found = body(action)
    return Event(action: action, found: found, start: start, end: tick)
  }
}

/// What happened to one key. Wing and Gong's search, 1993, with the states that were seen left out.
private struct History {
  let key: Int
  let events: [Event]

  private struct State: Hashable {
    /// Which events have had their turn.
    var done: [Bool]
    var value: Int?
  }

  /// Whether there is an order of the events in which each comes between its start and its end, and finds what it found.
  func hasOrder() -> Bool {
    var seen: Set<State> = []
    var open = [State(done: [Bool](repeating: false, count: events.count), value: nil)]
    while let state = open.popLast() {
      guard seen.insert(state).inserted else { continue }
      let rest = events.indices.filter { !state.done[$0] }
      guard let horizon = rest.map({ events[$0].end }).min() else { return true }
      for index in rest where events[index].start < horizon {
        var next = state
        next.done[index] = true
        for value in outcomes(of: events[index], state.value) {
          next.value = value
          open.append(next)
        }
      }
    }
    return false
  }

  /// The values that a key may have after an event; none if it cannot have found what it found.
  private func outcomes(of event: Event, _ value: Int?) -> [Int?] {
    switch event.action {
    case .get: event.found == value ? [value] : []
    case .set(_, let new): [new]
    case .remove: (event.found != nil) == (value != nil) ? [nil] : []
    case .removeAll: [nil]
    case .trim: value == nil ? [nil] : [value, nil]
    }
  }
}
