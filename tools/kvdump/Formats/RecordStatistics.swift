import LMDBFile

/// Counts of sizes by powers of two: exact to a factor of two, whatever the number.
struct Histogram: Sendable {
  /// How many values there are below each power of two; the first is for zero.
  private(set) var buckets = [Int](repeating: 0, count: 65)
  private(set) var count = 0
  private(set) var total = 0
  private(set) var minimum = Int.max
  private(set) var maximum = 0

  mutating func add(_ value: Int) {
    buckets[Int.bitWidth - value.leadingZeroBitCount] += 1
    count += 1
    total += value
    minimum = Swift.min(minimum, value)
    maximum = Swift.max(maximum, value)
  }

  /// The end of the bucket in which a share of the values ends; never above the largest.
  func percentile(_ share: Double) -> Int {
    let rank = max(1, Int((share * Double(count)).rounded(.up)))
    var seen = 0
    for (index, bucket) in buckets.enumerated() {
      seen += bucket
      if seen >= rank { return Swift.min(maximum, index == 0 ? 0 : index >= 63 ? .max : (1 << index) - 1) }
    }
    return maximum
  }

  /// The buckets from the first to the last that is not empty.
  var rows: [(range: ClosedRange<Int>, count: Int)] {
    guard let first = buckets.firstIndex(where: { $0 > 0 }), let last = buckets.lastIndex(where: { $0 > 0 }) else {
      return []
    }
    return (first...last).map { index in
      let low = index == 0 ? 0 : 1 << (index - 1)
      return (low...(index == 0 ? 0 : index >= 63 ? .max : (1 << index) - 1), buckets[index])
    }
  }
}

/// Sizes of records: histograms, the largest, and sums by prefix.
struct RecordStatistics {
  private let top: Int
  private let delimiter: [UInt8]?
  private(set) var keys = Histogram()
  private(set) var values = Histogram()
  private(set) var largest: [(key: [UInt8], bytes: Int)] = []
  private var prefixes: [[UInt8]: (count: Int, bytes: Int)] = [:]

  private static let prefixLimit = 100_000

  init(top: Int, delimiter: [UInt8]?) {
    self.top = top
    self.delimiter = delimiter
  }

  var count: Int { keys.count }

  mutating func add(_ key: Span<UInt8>, valueCount: Int) {
    keys.add(key.count)
    values.add(valueCount)
    let bytes = key.count + valueCount
    if top > 0, largest.count < top || bytes > (largest.last?.bytes ?? 0) {
      let place = largest.firstIndex { $0.bytes < bytes } ?? largest.count
      largest.insert((key.array, bytes), at: place)
      if largest.count > top { largest.removeLast() }
    }
    if let delimiter {
      let prefix = CatCommand.prefix(of: key.array, upTo: delimiter)
      // Prefixes beyond the limit are counted together.
      let bucket = prefixes[prefix] != nil || prefixes.count < Self.prefixLimit ? prefix : []
      prefixes[bucket, default: (0, 0)].count += 1
      prefixes[bucket, default: (0, 0)].bytes += bytes
    }
  }

  func write(to output: inout Output) throws(Failure) {
    if count == 0 { return }
    func row(_ title: String, _ histogram: Histogram) -> [String] {
      let numbers = [histogram.minimum, histogram.total / max(1, histogram.count)]
      let shares = [0.5, 0.9, 0.99].map { histogram.percentile($0) }
      return [title] + (numbers + shares + [histogram.maximum]).map(String.init) + [size(histogram.total)]
    }
    try output.table(
      [row("keys", keys), row("values", values)],
      under: ["", "MIN", "MEAN", "P50", "P90", "P99", "MAX", "TOTAL"],
      right: [1, 2, 3, 4, 5, 6, 7])
    try output.line("values by size:")
    let most = values.rows.map(\.count).max() ?? 1
    try output.table(
      values.rows.map { row in
        let bar = String(repeating: "#", count: (row.count * 40 + most - 1) / most)
        return ["  \(size(row.range.lowerBound))", "\(row.count)", bar]
      }, right: [1])
    if !largest.isEmpty {
      try output.line("largest records:")
      try output.table(largest.map { ["  \(size($0.bytes))", shortened($0.key)] }, right: [0])
    }
    if delimiter != nil {
      try output.line("by prefix:")
      let rows = prefixes.sorted { ($1.value.bytes, $0.key.description) < ($0.value.bytes, $1.key.description) }
      try output.table(
        rows.prefix(100).map { ["  \(size($0.value.bytes))", "\($0.value.count)", shortened($0.key)] }, right: [0, 1])
    }
  }
}

/// A key for a table: its start, if it is long.
func shortened(_ key: [UInt8], to limit: Int = 60) -> String {
  let text = String(escaping: key)
  return text.count > limit ? text.prefix(limit) + "…" : text
}
