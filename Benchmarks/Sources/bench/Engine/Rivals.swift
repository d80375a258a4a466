import Harness
import LMDB
import Peers

/// The same records in our engine and in those of others, for workloads of one durability class.
final class Rivals {
  let ours: HoldfastStore
  let peers: [(peer: Peer, reader: Reader)]
  let durability: Durability

  init(in folder: WorkFolder, _ durability: Durability, _ engines: [Engine], records: Int) throws {
    self.durability = durability
    ours = try HoldfastStore(at: folder.path(of: "holdfast"), durability)
    peers = try engines.map { engine in
      // Both ways of SQLite read the same file.
      let name = engine == .sqliteIn ? Engine.sqlite.rawValue : engine.rawValue
      let peer = try Peer(engine, at: folder.path(of: name), durability, records: records)
      return (peer, try Reader(peer))
    }
  }

  /// Stores that hold the records, put there 1,000 in a transaction, and have been closed and opened since.
  static func loaded(
    in folder: WorkFolder, _ durability: Durability, _ engines: [Engine], _ keys: KeyBlock, _ values: ValueBlock
  ) throws -> Rivals {
    try Rivals(in: folder, .processCrashSafe, engines, records: keys.count).load(keys, values)
    return try Rivals(in: folder, durability, engines, records: keys.count)
  }

  /// Stores records everywhere, and lets the engines finish what they do after that.
  private func load(_ keys: KeyBlock, _ values: ValueBlock) throws {
    let perCommit = 1000
    try ours.put(keys, 0..<keys.count, values, from: 0, perCommit: perCommit)
    for (peer, _) in peers where peer.engine != .sqliteIn {
      try peer.put(keys, 0..<keys.count, values, from: 0, perCommit: perCommit)
      try peer.settle()
    }
    try settle()
  }

  /// Flushes everything, so that no workload pays for what came before it.
  func settle() throws {
    try ours.environment.sync()
    for (peer, _) in peers where peer.engine != .kyoto && peer.engine != .sqliteIn { try peer.flush() }
  }

  /// Ours and those of some engines, as contenders of a workload.
  ///
  /// - Parameters:
  ///   - engines: Which peers take part, and the bar for each that has one.
  ///   - mine: What our engine does.
  ///   - theirs: What a peer does.
  /// - Returns: The contenders, ours first.
  func contenders(
    _ engines: [(Engine, bar: Double?)], ours mine: @escaping (Slice) throws -> UInt64,
    theirs: @escaping (Peer, Reader, Slice) throws -> UInt64
  ) -> [Contender] {
    [Contender("Holdfast", run: mine)]
      + engines.compactMap { engine, bar in
        guard let (peer, reader) = peers.first(where: { $0.peer.engine == engine }) else { return nil }
        return Contender(engine.name, bar: bar) { try theirs(peer, reader, $0) }
      }
  }

  /// C that goes from neighbour to neighbour and compares no key: nothing that steps through LMDB reads groups of adjacent
  /// keys faster.
  ///
  /// - Parameters:
  ///   - keys: The groups, whose keys lie next to each other in the store.
  ///   - size: How many keys a group has.
  /// - Returns: The contender, which has no bar.
  func steps(_ keys: KeyBlock, of size: Int) -> [Contender] {
    peers.filter { $0.peer.engine == .lmdb }.map { _, reader in
      Contender("\(Engine.lmdb.name), cursor alone") { slice in
        var sum: UInt64 = 0
        for group in slice.range(in: keys.count / size) {
          sum &+= try reader.scan(from: keys, at: group * size, limit: size)
        }
        return sum
      }
    }
  }
}

extension Slice {
  /// Its part of a list that is used again and again.
  ///
  /// - Parameters:
  ///   - count: The length of the list, at least that of the slice.
  ///   - step: How many elements an operation takes.
  /// - Returns: The places of its elements.
  func range(in count: Int, by step: Int = 1) -> Range<Int> {
    let first = start % (count / step - operations + 1)
    return first * step..<(first + operations) * step
  }
}
