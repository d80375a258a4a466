/// LRU and FIFO as in the textbooks, to compare with: a doubly linked list over the keys of a trace.
struct Queue {
  private let capacity: Int
  private let movesOnUse: Bool
  private var previous: [Int]
  private var next: [Int]
  /// The size of each key that is in; 0 is out.
  private var sizes: [Int]
  private var total = 0
  /// The place in the lists that is before the first and after the last.
  private let end: Int

  init(uniqueCount: Int, capacity: Int, movesOnUse: Bool) {
    self.capacity = capacity
    self.movesOnUse = movesOnUse
    end = uniqueCount
    previous = [Int](repeating: uniqueCount, count: uniqueCount + 1)
    next = previous
    sizes = [Int](repeating: 0, count: uniqueCount)
  }

  /// Asks for a key, and puts it in.
  ///
  /// - Returns: Whether it was in.
  mutating func use(_ key: Int, _ size: Int) -> Bool {
    if sizes[key] > 0 {
      if movesOnUse {
        unlink(key)
        link(key)
      }
      return true
    }
    guard size <= capacity else { return false }
    while total + size > capacity {
      let oldest = previous[end]
      unlink(oldest)
      total -= sizes[oldest]
      sizes[oldest] = 0
    }
    link(key)
    sizes[key] = size
    total += size
    return false
  }

  private mutating func link(_ key: Int) {
    next[key] = next[end]
    previous[key] = end
    previous[next[end]] = key
    next[end] = key
  }

  private mutating func unlink(_ key: Int) {
    next[previous[key]] = next[key]
    previous[next[key]] = previous[key]
  }
}
