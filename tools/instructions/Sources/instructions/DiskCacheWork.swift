import Holdfast

/// A disk cache of 1,000 values of one size, and its keys; no flush in the background comes in between.
private func diskCache(_ width: Int, at path: String) throws -> (DiskCache, [String], [UInt8]) {
  let cache = try DiskCache.open(at: "\(path)/cache", configuration: .init(syncDelay: .seconds(100_000)))
  let keys = (0..<1000).map { "thumbnail:\(10_000_000 + $0 * 7919 % 1_000_003)" }
  let value = [UInt8](repeating: 7, count: width)
  for key in keys { try cache.setValue(value, forKey: key) }
  return (cache, keys, value)
}

/// Hits that are copied out, of values that were read before.
func diskHits(_ width: Int, _ operations: Int, at path: String) throws -> Int {
  let (cache, keys, _) = try diskCache(width, at: path)
  var sum = 0
  for key in keys { sum += try cache.value(forKey: key)?.count ?? 0 }
  for number in 0..<operations { sum += try cache.value(forKey: keys[number * 7 % 1000])?.count ?? 0 }
  return sum
}

/// Values that replace others, a commit each.
func diskSets(_ width: Int, _ operations: Int, at path: String) throws -> Int {
  let (cache, keys, value) = try diskCache(width, at: path)
  for number in 0..<operations { try cache.setValue(value, forKey: keys[number * 7 % 1000]) }
  return try cache.totalCount()
}
