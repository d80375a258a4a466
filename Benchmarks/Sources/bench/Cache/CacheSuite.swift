import Harness

/// The cache's memory and disk halves, beside a dictionary, YYCache's design, SQLite, files and RocksDB.
func cacheSuite(_ bench: Bench) throws {
  try memoryCacheWorkloads(bench)
  try bench.withFolder("hits") { try diskHits(bench, $0) }
  try bench.withFolder("sets") { try diskSets(bench, $0) }
  try bench.withFolder("thousand") { try thousandOperations(bench, $0) }
  try bench.withFolder("mix") { try mixedOperations(bench, $0) }
  try bench.withFolder("trim") { try readsDuringTrim(bench, $0) }
  try bench.withFolder("size") { try cacheSize(bench, $0) }
  try bench.withFolder("open") { try cacheOpening(bench, $0) }
}
