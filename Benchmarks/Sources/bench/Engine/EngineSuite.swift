import Harness
import Peers

/// The engine beside C and beside other engines: db_bench's workloads, YCSB's, and what is ours alone.
func engineSuite(_ bench: Bench) throws {
  try bench.withFolder("filled") { folder in
    let count = bench.choose(1_000_000, quick: 50_000)
    // Even numbers only, so that an odd one is missing between two that are there. Loaded in random order.
    let all = KeyBlock((0..<count).map { $0 * 2 })
    let values = ValueBlock(count, width: 100)
    var random = Random(seed: 1)
    let rivals = try Rivals.loaded(
      in: folder, .powerLossSafe, Engine.allCases, all.picking((0..<count).shuffled(using: &random)), values)
    try readWorkloads(bench, rivals, all)
    try durableWriteWorkloads(bench, rivals, all, values)
  }
  try bench.withFolder("fills") { try fillWorkloads(bench, $0) }
  try bench.withFolder("group") { try groupCommitWorkloads(bench, $0) }
  try bench.withFolder("ycsb") { try ycsbWorkloads(bench, $0) }
  try bench.withFolder("open") { try openWorkloads(bench, $0, count: bench.choose(1_000_000, quick: 100_000)) }
  try bench.withFolder("compacted") { try compactedSize(bench, $0) }
}
