/// Belady's optimum: whoever is asked for last of all leaves first, and a key may be left out at once. With sizes it is
/// the same rule, which then is very good but not the best possible.
struct Optimum {
  private let capacity: Int
  /// When each request's key is asked for again.
  private let nextUse: [Int]
  private var time = 0
  /// When each key that is in is asked for next; -1 is out.
  private var due: [Int]
  private var sizes: [Int]
  private var total = 0
  /// Keys by their next use, the latest first, with leftovers of earlier uses.
  private var heap: [(due: Int, key: Int)] = []

  init(_ trace: Trace, capacity: Int) {
    self.capacity = capacity
    var last = [Int](repeating: .max, count: trace.uniqueCount)
    var nextUse = [Int](repeating: .max, count: trace.keys.count)
    for index in trace.keys.indices.reversed() {
      nextUse[index] = last[trace.keys[index]]
      last[trace.keys[index]] = index
    }
    self.nextUse = nextUse
    due = [Int](repeating: -1, count: trace.uniqueCount)
    sizes = [Int](repeating: 0, count: trace.uniqueCount)
  }

  /// Asks for the next key of the trace.
  ///
  /// - Returns: Whether it was in.
  mutating func use(_ key: Int, _ size: Int) -> Bool {
    let isHit = due[key] >= 0
    if !isHit {
      total += size
      sizes[key] = size
    }
    due[key] = nextUse[time]
    push((nextUse[time], key))
    time += 1
    while total > capacity, let (last, victim) = pop() {
      guard due[victim] == last else { continue }
      due[victim] = -1
      total -= sizes[victim]
    }
    return isHit
  }

  private mutating func push(_ item: (due: Int, key: Int)) {
    heap.append(item)
    var index = heap.count - 1
    while index > 0, heap[(index - 1) / 2].due < heap[index].due {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func pop() -> (due: Int, key: Int)? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return first }
    heap[0] = last
    var index = 0
    while true {
      var largest = index
      for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].due > heap[largest].due {
        largest = child
      }
      if largest == index { return first }
      heap.swapAt(index, largest)
      index = largest
    }
  }
}
