import Harness
import Holdfast
import Peers

/// Hits of the disk half, copied out and in place, for values of 4, 20 and 100 KB; and that they write nothing.
func diskHits(_ bench: Bench, _ folder: WorkFolder) throws {
  typealias Bars = [PeerBlobs.Design: Double]
  for (label, width, bars, inPlace) in [
    ("4 KB", 4096, [.yycache: 35, .sqlite: 4, .sqliteLargePages: 4, .files: 5, .lmdb: 0.92], [:]),
    ("20 KB", 20_000, [.yycache: 18, .sqlite: 3, .sqliteLargePages: 3, .files: 3, .lmdb: 0.9], [:]),
    (
      "100 KB", 102_400, [.yycache: 5, .sqlite: 1.5, .sqliteLargePages: 1.5, .files: 1.8, .lmdb: 0.9],
      [.sqlite: 2.3, .sqliteLargePages: 2.3, .files: 3, .lmdb: 0.9]
    ),
  ] as [(String, Int, Bars, Bars)] {
    let count = bench.choose(64 << 20, quick: 8 << 20) / width
    let rivals = try DiskRivals(in: folder.folder(label), count: count)
    try rivals.fill(ValueBlock(count, width: width))
    var random = Random(seed: 61)
    let draws = (0..<1 << 14).map { _ in random.below(count) }
    let (names, keys) = (rivals.names(of: draws), rivals.keys.picking(draws))
    let peers = { (bars: Bars, get: @escaping (PeerBlobs) -> (KeyBlock, Range<Int>) throws -> UInt64) in
      rivals.peers.map { peer in
        Contender(peer.design.name, bar: bars[peer.design]) { try get(peer)(keys, $0.range(in: draws.count)) }
      }
    }
    try bench.compare(
      .reading("disk hit, \(label), copied", .processCrashSafe, upTo: draws.count),
      [
        Contender("Holdfast") { slice in
          var sum: UInt64 = 0
          for index in slice.range(in: draws.count) {
            if let value = try rivals.cache.value(forKey: names[index]) { sum &+= value.span.touched }
          }
          return sum
        }
      ] + peers(bars, { $0.get }))
    try bench.compare(
      .reading("disk hit, \(label), in place", .processCrashSafe, upTo: draws.count),
      [
        Contender("Holdfast") { slice in
          var sum: UInt64 = 0
          for index in slice.range(in: draws.count) {
            sum &+= try rivals.cache.withValue(forKey: names[index]) { $0.touched } ?? 0
          }
          return sum
        }
      ] + peers(inPlace, { $0.getInPlace }))
    if width == 4096 { try bytesWritten(bench, rivals, names, keys) }
  }
}

/// What hits write, by the kernel's count of this process.
private func bytesWritten(_ bench: Bench, _ rivals: DiskRivals, _ names: [String], _ keys: KeyBlock) throws {
  func written(_ body: () throws -> Void) throws -> Double {
    let before = IOCounter.writtenBytes
    try body()
    return Double(IOCounter.writtenBytes - before)
  }
  let ours = try written { for name in names { _ = try rivals.cache.value(forKey: name) } }
  for peer in rivals.peers where peer.design == .yycache || peer.design == .sqlite {
    let theirs = try written { _ = try peer.get(keys, 0..<keys.count) }
    bench.add(
      "bytes written by a disk hit", .processCrashSafe, peer: peer.design.name, ours: ours / Double(names.count),
      theirs: theirs / Double(keys.count), unit: "B", ratio: Quartiles(exactly: (theirs + 1) / (ours + 1)))
  }
  bench.add(
    "bytes written by 16,384 disk hits", .processCrashSafe, peer: "at most one page", ours: ours, theirs: 4096,
    unit: "B", ratio: Quartiles(exactly: 4096 / max(1, ours)), bar: 1)
}
