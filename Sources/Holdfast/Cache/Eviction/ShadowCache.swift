/// A cache without values that follows one rule: what the cache would hold, for a sample of the keys.
struct ShadowCache: Sendable {
  private(set) var queues: EvictionQueues
  private var index = HashIndex()

  init(_ rule: EvictionRule) { queues = EvictionQueues(rule) }

  var count: Int { queues.residents.total.count }

  /// Asks for a key and stores it if it is not there.
  ///
  /// - Returns: Whether it was there.
  mutating func use(hash: UInt64, cost: Int, limit: Amount) -> Bool {
    let found = index.position(of: hash) { queues.residents.nodes[$0].hash == hash }
    if let found {
      queues.use(Int32(found))
      return true
    }
    guard Amount().hasRoom(forCost: cost, within: limit) else { return false }
    while !queues.residents.total.hasRoom(forCost: cost, within: limit),
      let slot = queues.victim(within: limit, takeUses: { _, _ in 0 })
    {
      index.remove(Int(slot), hash: queues.residents[slot].hash)
      queues.evict(slot)
    }
    index.insert(Int(queues.insert(hash: hash, cost: cost, isPinned: false)), hash: hash)
    return false
  }

  /// Forgets all keys but those of a smaller sample.
  mutating func keep(where isSampled: (UInt64) -> Bool) {
    for (slot, node) in queues.residents.nodes.enumerated() where node.queue != .free && !isSampled(node.hash) {
      index.remove(slot, hash: node.hash)
      queues.remove(Int32(slot))
    }
  }
}
