import Harness
import Peers

/// The engine beside C and beside other engines: db_bench's workloads, YCSB's, and what is ours alone.
func engineSuite(_ bench: Bench) throws {
  try bench.withFolder("reads") { try readWorkloads(bench, $0) }
  try bench.withFolder("writes") { try durableWriteWorkloads(bench, $0) }
  try bench.withFolder("fills") { try fillWorkloads(bench, $0) }
  try bench.withFolder("group") { try groupCommitWorkloads(bench, $0) }
  try bench.withFolder("ycsb") { try ycsbWorkloads(bench, $0) }
  try bench.withFolder("open") { try openWorkload(bench, $0) }
  try bench.withFolder("compacted") { try compactedSize(bench, $0) }
}
