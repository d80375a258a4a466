import TestSupport
import Testing

@testable import Holdfast

/// Random programs, run by the cache and by a naive twin; HOLDFAST_SEED repeats a run, HOLDFAST_STEPS makes it longer.
@Suite struct MemoryCacheModelTests {
  @Test(arguments: EvictionPolicy.allCases) func agreesWithANaiveCache(_ policy: EvictionPolicy) throws {
    for round in 0..<3 {
      let seed = UInt64(setting("HOLDFAST_SEED", or: Int.random(in: 0..<1_000_000))) &+ UInt64(round)
      print("memory cache \(policy), seed \(seed)")
      var model = Model(seed: seed, policy: policy)
      for step in 0..<setting("HOLDFAST_STEPS", or: 1500) {
        let (action, problem) = model.step()
        try #require(problem == nil, "seed \(seed), step \(step), \(action): \(problem ?? "")")
      }
    }
  }
}

/// A cache, and what it should hold.
private struct Model {
  struct Entry {
    var value: Int
    var cost: Int
    var isPinned: Bool
    var expiresAt: Int64
    var idleLimit: Int64
    var accessed: Int64
    var end: Int64 { min(expiresAt, idleLimit == .max ? .max : accessed + idleLimit) }
  }

  let policy: EvictionPolicy
  let time = ManualTime()
  let cache: MemoryCache<Int, Int>
  var generator: SeededGenerator
  /// What is in, the oldest first by the order of the policy.
  var twin: [(key: Int, entry: Entry)] = []
  var countLimit: Int? = 30
  var costLimit: Int? = 300

  init(seed: UInt64, policy: EvictionPolicy) {
    self.policy = policy
    generator = SeededGenerator(seed: seed)
    cache = MemoryCache(time: time, countLimit: 30, costLimit: 300, policy: policy)
    // Nobody but the program purges.
    cache.autoTrimInterval = .seconds(10_000_000)
  }

  var now: Int64 { time.time.now() }
  var count: Int { twin.count }
  var cost: Int { twin.reduce(0) { $0 + $1.entry.cost } }

  mutating func random(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

  /// Does something, to both.
  ///
  /// - Returns: What it was, and what does not agree.
  mutating func step() -> (String, String?) {
    let key = random(60)
    switch random(20) {
    case 0..<7:
      return ("get \(key)", get(key))
    case 7..<14:
      let cost = random(8) == 0 ? random(120) : random(20)
      let entry = Entry(
        value: random(1_000_000), cost: cost, isPinned: random(12) == 0,
        expiresAt: random(4) == 0 ? now + Int64(random(20) * 1000) : .max,
        idleLimit: random(6) == 0 ? Int64((1 + random(20)) * 1000) : .max, accessed: now)
      return ("set \(key) \(entry)", set(key, entry))
    case 14:
      let position = twin.firstIndex { $0.key == key }
      let isRemoved = cache.removeObject(forKey: key)
      if let position { twin.remove(at: position) }
      return ("remove \(key)", isRemoved == (position != nil) ? check() : "removed: \(isRemoved)")
    case 15:
      let target = random(40)
      cache.trim(toCount: target)
      evict { $0.count > target }
      return ("trim to \(target)", check())
    case 16:
      let target = random(400)
      cache.trim(toCost: target)
      evict { $0.cost > target }
      return ("trim to cost \(target)", check())
    case 17:
      time.advance(by: .seconds(random(6)))
      if random(2) == 0 {
        cache.removeExpiredObjects()
        let now = now
        twin.removeAll { $0.entry.end <= now }
      }
      return ("time", nil)
    case 18:
      countLimit = random(3) == 0 ? nil : 1 + random(40)
      cache.countLimit = countLimit
      evict { [countLimit] in $0.count > countLimit ?? .max }
      evictPinned()
      costLimit = random(3) == 0 ? nil : 100 + random(300)
      cache.costLimit = costLimit
      evict { [costLimit] in $0.cost > costLimit ?? .max }
      evictPinned()
      return ("limits \(String(describing: countLimit)) \(String(describing: costLimit))", check())
    default:
      guard random(10) == 0 else { return ("contains \(key)", contains(key)) }
      cache.removeAllObjects()
      twin = []
      return ("remove all", check())
    }
  }

  private mutating func get(_ key: Int) -> String? {
    let found = cache.object(forKey: key)
    guard let position = twin.firstIndex(where: { $0.key == key }) else {
      return found == nil ? nil : "found \(String(describing: found)) without an entry"
    }
    if twin[position].entry.end <= now {
      twin.remove(at: position)
      return found == nil ? check() : "found what has expired"
    }
    twin[position].entry.accessed = now
    if policy == .lru, !twin[position].entry.isPinned { twin.append(twin.remove(at: position)) }
    let value = twin.first { $0.key == key }?.entry.value
    return found == value ? nil : "found \(String(describing: found)) instead of \(String(describing: value))"
  }

  private mutating func contains(_ key: Int) -> String? {
    let entry = twin.first { $0.key == key }?.entry
    return cache.containsObject(forKey: key) == (entry.map { $0.end > now } ?? false) ? nil : "contains"
  }

  private mutating func set(_ key: Int, _ entry: Entry) -> String? {
    let isStored = cache.setObject(
      entry.value, forKey: key, cost: entry.cost,
      lifetime: entry.expiresAt == .max ? nil : .milliseconds(entry.expiresAt - now),
      idleLimit: entry.idleLimit == .max ? nil : .milliseconds(entry.idleLimit), isPinned: entry.isPinned)
    let position = twin.firstIndex { $0.key == key }
    let later = position.map { Set(twin[($0 + 1)...].map(\.key)) } ?? []
    let old = position.map { twin.remove(at: $0) }
    let pinned = twin.filter(\.entry.isPinned)
    let pinnedCost = pinned.reduce(0) { $0 + $1.entry.cost }
    let mayStay =
      entry.end > now && entry.cost <= costLimit.map { $0 / 4 } ?? .max
      && (!entry.isPinned
        || pinned.count < max(1, (countLimit ?? .max) / 2)
          && pinnedCost + entry.cost <= max(1, (costLimit ?? .max) / 2))
    guard mayStay else { return isStored ? "stored what may not stay" : check() }
    let isTooMuch: (Model) -> Bool = { [countLimit, costLimit] in
      $0.count >= countLimit ?? .max || $0.cost + entry.cost > costLimit ?? .max
    }
    evict(while: isTooMuch)
    // Pinned entries alone may leave no room, after the limit was lowered.
    guard isStored else { return isTooMuch(self) ? check() : "not stored" }
    // An entry that is replaced keeps its place among the pinned ones, and where the order is that of the first set.
    if let old, old.entry.isPinned == entry.isPinned,
      entry.isPinned || policy == .fifo && evictedLast == 0
    {
      let after = twin.firstIndex { later.contains($0.key) }
      twin.insert((key, entry), at: after ?? twin.count)
    } else {
      twin.append((key, entry))
    }
    return check()
  }

  /// How many were evicted in the last change.
  private var evictedLast = 0

  /// Takes out of the twin what the policy would. The adaptive one is asked what it has taken.
  private mutating func evict(while isTooMuch: (Model) -> Bool) {
    evictedLast = 0
    if policy == .adaptive {
      guard isTooMuch(self) else { return }
      let keys = Set(cache.allKeys)
      twin.removeAll { !keys.contains($0.key) && !$0.entry.isPinned }
      return
    }
    while isTooMuch(self), let victim = twin.firstIndex(where: { !$0.entry.isPinned }) {
      twin.remove(at: victim)
      evictedLast += 1
    }
  }

  /// The one that was pinned the longest ago leaves first, by each policy.
  private mutating func evictPinned() {
    while count > countLimit ?? .max || cost > costLimit ?? .max, !twin.isEmpty { twin.removeFirst() }
  }

  /// What does not agree.
  private func check() -> String? {
    if let problem = cache.check() { return problem }
    let keys = Set(cache.allKeys)
    let expected = Set(twin.map(\.key))
    if keys != expected { return "\(keys.subtracting(expected)) too many, \(expected.subtracting(keys)) missing" }
    if cache.totalCost != cost { return "costs \(cache.totalCost) instead of \(cost)" }
    return nil
  }
}
