import Holdfast

/// The hit ratios of one trace at one size, in per cent.
struct HitRatioRow: Codable {
  var trace: String
  var size: Int
  /// `requests`, or `bytes` where each request counts as much as it is large.
  var unit: String
  /// The memory cache with its default policy: what hash seeds do to it, the mean of the runs first.
  var adaptive: Double
  var adaptiveLeast: Double
  var adaptiveMost: Double
  /// The memory cache with the two other policies.
  var holdfastLRU: Double
  var holdfastFIFO: Double
  /// What to compare with.
  var lru: Double
  var fifo: Double
  var optimum: Double

  /// Measures.
  ///
  /// - Parameters:
  ///   - name: The name of the trace.
  ///   - trace: The trace.
  ///   - size: How many keys, or bytes, the caches hold.
  ///   - weighted: Whether `size` is in bytes.
  ///   - runs: How often the adaptive policy runs, each time with other hashes.
  init(_ name: String, _ trace: Trace, size: Int, weighted: Bool, runs: Int) {
    func ratio(_ tally: Tally) -> Double {
      let all = weighted ? trace.sizes.reduce(0, +) : trace.keys.count
      return Double(weighted ? tally.hitBytes : tally.hits) / Double(all) * 100
    }
    func ours(_ policy: EvictionPolicy, _ salt: Int = 0) -> Double {
      let cache = MemoryCache<SaltedKey, Int>(
        countLimit: weighted ? nil : size, costLimit: weighted ? size : nil, policy: policy)
      // Like the caches that it is compared with, it takes what fits.
      cache.entryCostLimit = weighted ? size : nil
      return ratio(
        trace.run(weighted: weighted) { number, size in
          let key = SaltedKey(number: number, salt: salt)
          if cache.object(forKey: key) != nil { return true }
          cache.setObject(number, forKey: key, cost: size)
          return false
        })
    }
    func queue(_ movesOnUse: Bool) -> Double {
      var queue = Queue(uniqueCount: trace.uniqueCount, capacity: size, movesOnUse: movesOnUse)
      return ratio(trace.run(weighted: weighted) { queue.use($0, $1) })
    }
    self.trace = name
    self.size = size
    unit = weighted ? "bytes" : "requests"
    let all = (0..<max(runs, 1)).map { ours(.adaptive, $0) }
    adaptive = all.reduce(0, +) / Double(all.count)
    adaptiveLeast = all.min() ?? 0
    adaptiveMost = all.max() ?? 0
    holdfastLRU = ours(.lru)
    holdfastFIFO = ours(.fifo)
    lru = queue(true)
    fifo = queue(false)
    var best = Optimum(trace, capacity: size)
    optimum = ratio(trace.run(weighted: weighted) { best.use($0, $1) })
  }

  /// The words above the columns of ``line``.
  static let heading =
    pad("trace", 24) + pad("size", 12) + "adaptive   (least,   most)     lru    fifo | reference lru    fifo     opt"

  /// A line for the terminal.
  var line: String {
    func number(_ value: Double) -> String { String(Int((value * 100).rounded())).inserting() }
    return pad(trace, 24) + pad(String(size), 12)
      + "\(number(adaptive))  (\(number(adaptiveLeast)), \(number(adaptiveMost))) \(number(holdfastLRU)) "
      + "\(number(holdfastFIFO)) |       \(number(lru)) \(number(fifo)) \(number(optimum))"
  }
}

/// A number that hashes in another way for each salt.
struct SaltedKey: Hashable, Sendable {
  let number: Int
  let salt: Int
}

private func pad(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(1, width - text.count))
}

extension String {
  /// A number of hundredths with its point, seven characters wide.
  fileprivate func inserting() -> String {
    let digits = String(repeating: "0", count: max(0, 3 - count)) + self
    let text = digits.dropLast(2) + "." + digits.suffix(2)
    return String(repeating: " ", count: max(0, 7 - text.count)) + text
  }
}
