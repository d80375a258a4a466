/// Hits of one cache in one trace.
struct Tally {
  var hits = 0
  var hitBytes = 0

  /// Counts a request.
  mutating func count(_ isHit: Bool, _ size: Int) {
    if isHit {
      hits += 1
      hitBytes += size
    }
  }
}

extension Trace {
  /// Asks `isHit` for each request, and counts; if `weighted`, a request has its own size, otherwise each is 1.
  func run(weighted: Bool, _ isHit: (_ key: Int, _ size: Int) -> Bool) -> Tally {
    var tally = Tally()
    for (index, key) in keys.enumerated() {
      let size = weighted ? sizes[index] : 1
      tally.count(isHit(key, size), size)
    }
    return tally
  }
}
