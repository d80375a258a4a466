import Foundation
import Harness
import LMDB
import Peers

/// What the same records take on the disk: filled at random and in order, compacted, with values of several sizes.
func sizeSuite(_ bench: Bench) throws {
  let count = bench.choose(1_000_000, quick: 50_000)
  var random = Random(seed: 30)
  let shuffled = KeyBlock((0..<count).shuffled(using: &random))
  let values = ValueBlock(count, width: 100)
  let payload = Double(count * 116)
  let label = "\(count.named) × 116 B"
  try bench.withFolder("size") { folder in
    let atRandom = try sizes(in: folder.folder("random"), shuffled, values)
    add(bench, "file, \(label), filled at random", atRandom, payload, limit: 1.75)
    let inOrder = try sizes(in: folder.folder("order"), KeyBlock(0..<count), values, appends: true)
    add(bench, "file, \(label), filled in order", inOrder, payload, limit: nil)
    // The peers have compacted already; raw LMDB has only mdb_copy -c for it.
    var compacted = atRandom
    let store = try HoldfastStore(at: folder.folder("random").path(of: "holdfast"), .processCrashSafe)
    try store.environment.compact()
    compacted[0].bytes = Double(WorkFolder.diskBytes(store.path))
    compacted[1].bytes = try copyOfRaw(folder)
    add(bench, "file, \(label), compacted", compacted, payload, limit: 1.12)
  }
  for width in bench.choose([1000, 4096, 20_000], quick: [4096]) {
    let count = bench.choose(200_000_000, quick: 16_000_000) / width
    try bench.withFolder("size") { folder in
      let found = try sizes(in: folder, KeyBlock(0..<count), ValueBlock(count, width: width))
      add(bench, "file, values of \(width) B, filled in order", found, Double(count * (16 + width)), limit: nil)
    }
  }
}

/// What an engine takes on the disk.
private struct Size {
  let peer: String
  var bytes: Double
}

private func add(_ bench: Bench, _ name: String, _ sizes: [Size], _ payload: Double, limit: Double?) {
  let ours = sizes[0].bytes / payload
  for peer in sizes.dropFirst() {
    let theirs = peer.bytes / payload
    bench.add(
      name, .processCrashSafe, peer: peer.peer, ours: ours, theirs: theirs, unit: "bytes a payload byte",
      ratio: Quartiles(exactly: theirs / ours))
  }
  guard let limit else { return }
  bench.add(name, .processCrashSafe, sample: [ours], limit: limit, unit: "bytes a payload byte")
}

/// Fills all engines, 1,000 records a commit, lets them finish and compact, and measures; ours first, raw LMDB second.
private func sizes(
  in folder: WorkFolder, _ keys: KeyBlock, _ values: ValueBlock, appends: Bool = false
) throws -> [Size] {
  let path = try folder.path(of: "holdfast")
  do {
    let store = try HoldfastStore(at: path, .processCrashSafe)
    try store.put(keys, 0..<keys.count, values, from: 0, perCommit: 1000)
    try store.environment.sync()
  }
  return try [Size(peer: "Holdfast", bytes: Double(WorkFolder.diskBytes(path)))]
    + [Engine.lmdb, .sqlite, .rocksdb, .leveldb, .kyoto].map { engine in
      let path = try folder.path(of: engine.rawValue)
      do {
        let peer = try Peer(engine, at: path, .processCrashSafe, records: keys.count)
        try peer.put(keys, 0..<keys.count, values, from: 0, perCommit: 1000, appends: appends)
        try peer.settle()
      }
      return Size(peer: engine.name, bytes: Double(WorkFolder.diskBytes(path)))
    }
}

/// The file that `mdb_copy -c` makes of raw LMDB's.
private func copyOfRaw(_ folder: WorkFolder) throws -> Double {
  let copy = try folder.path(of: "copy")
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = ["mdb_copy", "-c", try folder.folder("random").path(of: Engine.lmdb.rawValue), copy]
  try process.run()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else { throw UsageError("mdb_copy -c has failed") }
  return Double(WorkFolder.diskBytes(copy))
}
