// Where a file of its own is as fast as the data file: the figures behind `DiskCache.Configuration.inlineThreshold`.
//
// inline-threshold DIRECTORY [ROUNDS]
//
// For each size, two caches in one run: everything in the data file, and everything in files. Rounds alternate between
// them and the best of each counts, so that a busy machine slows both or neither.

import Holdfast
import LMDB

let directory = CommandLine.arguments[1]
let rounds = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 5 : 5

/// The seconds that a piece of work takes.
func seconds(_ work: () throws -> Void) rethrows -> Double {
  let duration = try ContinuousClock().measure(work)
  return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}

/// A number in a column.
func column(_ value: Double, _ width: Int) -> String {
  let text = String((value * 100).rounded() / 100)
  return String(repeating: " ", count: max(1, width - text.count)) + text
}

/// A cache with everything on one side of the threshold.
func open(_ name: String, threshold: Int) throws -> DiskCache {
  try DiskCache.open(
    at: "\(directory)/\(name)", configuration: .init(inlineThreshold: threshold, syncDelay: .seconds(3600)))
}

print("µs an operation; ratio: file / data file, above 1 the data file is faster")
print("   size KiB   set data   set file  ratio   get data   get file  ratio   view data  view file  ratio")
for power in 12...24 {
  let size = 1 << power
  let count = max(8, min(512, (64 << 20) / size))
  let caches = [try open("data-\(power)", threshold: 256 << 20), try open("files-\(power)", threshold: 0)]
  let value = [UInt8](repeating: 7, count: size)
  let keys = (0..<count).map { "key \($0)" }
  var best = [[Double]](repeating: [.infinity, .infinity, .infinity], count: 2)
  for _ in 0..<rounds {
    for (index, cache) in caches.enumerated() {
      let set = try seconds { for key in keys { try cache.setValue(value, forKey: key) } }
      var sum = 0
      let get = try seconds { for key in keys { sum += try cache.value(forKey: key)?.count ?? 0 } }
      let view = try seconds { for key in keys { sum += try cache.withValue(forKey: key) { Int($0[size - 1]) } ?? 0 } }
      guard sum == count * (size + 7) else { throw StoreError(.io, "A value came back wrong.") }
      for (kind, time) in [set, get, view].enumerated() { best[index][kind] = min(best[index][kind], time) }
    }
  }
  var line = column(Double(size) / 1024, 11)
  for kind in 0..<3 {
    let (data, file) = (best[0][kind] / Double(count) * 1e6, best[1][kind] / Double(count) * 1e6)
    line += column(data, 11) + column(file, 11) + column(file / data, 7)
  }
  print(line)
  for cache in caches {
    try cache.removeAllObjects()
    try cache.close()
  }
}
