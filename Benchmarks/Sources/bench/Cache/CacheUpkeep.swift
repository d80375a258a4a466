import Foundation
import Harness
import Holdfast
import Peers
import Synchronization

/// Reads while another thread evicts, beside reads in peace.
func readsDuringTrim(_ bench: Bench, _ folder: WorkFolder) throws {
  let count = bench.choose(20_000, quick: 4000)
  let rivals = try DiskRivals(in: folder, count: count, [])
  let values = ValueBlock(16, width: 4096)
  try rivals.fill(values)
  let arrays = DiskRivals.arrays(values)
  let cache = rivals.cache
  var random = Random(seed: 63)
  let reads = bench.choose(4000, quick: 800)
  let draws = (0..<reads).map { _ in rivals.names[random.below(count)] }
  let read = { (slice: Slice) in
    for name in draws { try slice.timed { _ = try cache.value(forKey: name) } }
  }
  try bench.compare(
    .waiting("disk hits while 1,000 entries are evicted and set", .processCrashSafe, operations: reads).withThreads,
    [
      Contender("Holdfast") { slice in
        let isDone = Atomic(false)
        let done = DispatchSemaphore(value: 0)
        let trimmer = Thread {
          while !isDone.load(ordering: .relaxed) {
            do {
              _ = try cache.trim(toCount: count - 1000)
              for number in 0..<1000 where !isDone.load(ordering: .relaxed) {
                try cache.setValue(arrays[number % arrays.count], forKey: "new:\(number)")
              }
            } catch { break }
          }
          done.signal()
        }
        trimmer.start()
        defer {
          isDone.store(true, ordering: .relaxed)
          done.wait()
        }
        try read(slice)
        return 0
      },
      Contender("Holdfast, in peace", tailBar: 1 / 1.5) { slice in
        try read(slice)
        return 0
      },
    ])
}

/// What values of all sizes take on the disk: log-uniform from 1 B to 1 MiB.
func cacheSize(_ bench: Bench, _ folder: WorkFolder) throws {
  let count = bench.choose(4000, quick: 400)
  var random = Random(seed: 64)
  let lengths = (0..<count).map { _ in Int(exp2(Double(random.below(20_000)) / 1000)) }
  let bytes = ValueBlock(1, width: 1 << 20).bytes
  let payload = Double(lengths.reduce(0, +))
  func measured(_ name: String, _ store: (String) throws -> Void) throws -> Double {
    let path = try folder.path(of: name)
    try store(path)
    return Double(WorkFolder.diskBytes(path)) / payload
  }
  let names = (0..<count).map { "picture:\(10_000_000 + $0)" }
  let keys = KeyBlock(texts: names)
  let ours = try measured("holdfast") { path in
    let cache = try DiskCache.open(at: path)
    for (name, length) in zip(names, lengths) { try cache.setValue(Array(bytes.prefix(length)), forKey: name) }
    try cache.close()
  }
  for design in PeerBlobs.Design.allCases {
    let theirs = try measured(design.rawValue) { path in
      let peer = try PeerBlobs(design, at: path)
      for (index, length) in lengths.enumerated() {
        try peer.set(keys, index..<index + 1, ValueBlock(bytes: Array(bytes.prefix(length)), width: length), from: 0)
      }
    }
    bench.add(
      "cache on disk, 1 B to 1 MiB", .processCrashSafe, peer: design.name, ours: ours, theirs: theirs,
      unit: "bytes a payload byte", ratio: Quartiles(exactly: theirs / ours))
  }
  bench.add(
    "cache on disk, 1 B to 1 MiB", .processCrashSafe, sample: [ours], limit: 1.12, unit: "bytes a payload byte")
}

/// Opening a cache that holds much.
func cacheOpening(_ bench: Bench, _ folder: WorkFolder) throws {
  let count = bench.choose(100_000, quick: 10_000)
  let path = try folder.path(of: "holdfast")
  let value = ValueBlock(1, width: 200).bytes
  do {
    let cache = try DiskCache.open(at: path)
    for first in stride(from: 0, to: count, by: 1000) {
      try cache.setValues((first..<first + 1000).map { ("picture:\($0)", value) })
    }
    try cache.close()
  }
  var times: [Double] = []
  for number in 0..<bench.choose(40, quick: 15) {
    let begin = Clock.wall.now
    let cache = try DiskCache.open(at: path)
    _ = try cache.value(forKey: "picture:\(number)")
    times.append(Double(Clock.wall.now - begin) / 1e6)
    try cache.close()
  }
  bench.add("open a cache of \(count.named) entries, first hit", .processCrashSafe, sample: times, limit: 1, unit: "ms")
}
