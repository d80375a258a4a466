import Foundation
import Harness
import LMDB
import Peers

/// What a store that was filled in random order takes on the disk once it is compacted.
func compactedSize(_ bench: Bench, _ folder: WorkFolder) throws {
  let count = bench.choose(1_000_000, quick: 100_000)
  var random = Random(seed: 12)
  let keys = KeyBlock((0..<count).shuffled(using: &random))
  let payload = Double(count * 116)
  let store = try HoldfastStore(at: folder.path(of: "holdfast"), .processCrashSafe)
  try store.put(keys, 0..<count, ValueBlock(count, width: 100), from: 0, perCommit: 1000)
  try store.environment.compact()
  let compacted = Double(WorkFolder.diskBytes(store.path)) / payload
  bench.add("file bytes a payload byte, compacted", .processCrashSafe, sample: [compacted], limit: 1.12, unit: "B/B")
}
