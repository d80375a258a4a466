import Holdfast
import Synchronization

/// A value that is a reference, as large values are.
final class Payload: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

/// Hits of a memory cache with text keys, or of what one would write instead: a dictionary and a lock.
func memoryHits(_ mode: String, _ operations: Int) -> Int {
  let keys = (0..<10_000).map { "key:\($0 * 7919 % 1_000_003)" }
  var sum = 0
  switch mode {
  case "memory":
    let cache = MemoryCache<String, Payload>(countLimit: 20_000)
    for (number, key) in keys.enumerated() { cache.setObject(Payload(number), forKey: key) }
    for number in 0..<operations { sum += cache.object(forKey: keys[number * 7 % 10_000])?.number ?? 0 }
  default:
    let dictionary = Mutex<[String: Payload]>([:])
    for (number, key) in keys.enumerated() { dictionary.withLock { $0[key] = Payload(number) } }
    for number in 0..<operations {
      sum += dictionary.withLock { $0[keys[number * 7 % 10_000]] }?.number ?? 0
    }
  }
  return sum
}

/// Values that replace others, in a memory cache or in a dictionary with a lock.
func memorySets(_ mode: String, _ operations: Int) -> Int {
  let keys = (0..<10_000).map { "key:\($0 * 7919 % 1_000_003)" }
  let payload = Payload(1)
  switch mode {
  case "replace":
    let cache = MemoryCache<String, Payload>(countLimit: 20_000)
    for key in keys { cache.setObject(payload, forKey: key, cost: 1) }
    for number in 0..<operations { cache.setObject(payload, forKey: keys[number * 7 % 10_000], cost: 1) }
    return cache.totalCount
  default:
    let dictionary = Mutex<[String: Payload]>([:])
    for key in keys { dictionary.withLock { $0[key] = payload } }
    for number in 0..<operations { dictionary.withLock { $0[keys[number * 7 % 10_000]] = payload } }
    return dictionary.withLock { $0.count }
  }
}
