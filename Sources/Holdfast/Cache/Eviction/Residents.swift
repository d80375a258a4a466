/// The entries of a cache in queues, doubly linked, by slots that are used again; 32 bytes an entry.
@usableFromInline
struct Residents: Sendable {
  /// Where an entry waits. New ones come into `small`; those that have proved useful are in `main`.
  enum Queue: UInt8 {
    case free, small, main, pinned
  }

  struct Node {
    var hash: UInt64
    var cost: Int
    /// Towards the head, which is the youngest; -1 is the end.
    var previous: Int32 = -1
    var next: Int32 = -1
    var queue = Queue.free
    /// How often it may still pass the end of its queue.
    var credit: UInt8 = 0
    /// How often it was asked for since it was looked at last, up to 15, where that is counted here.
    var uses: UInt8 = 0
  }

  struct Chain {
    var head: Int32 = -1
    var tail: Int32 = -1
    var amount = Amount()
  }

  private(set) var nodes: [Node] = []
  private(set) var small = Chain()
  private(set) var main = Chain()
  private(set) var pinned = Chain()
  private var free: Int32 = -1

  /// What all of them are together.
  var total: Amount {
    Amount(
      count: small.amount.count + main.amount.count + pinned.amount.count,
      cost: small.amount.cost + main.amount.cost + pinned.amount.cost)
  }

  subscript(slot: Int32) -> Node { nodes[Int(slot)] }

  /// Whether the slot has an entry of that hash.
  func holds(_ slot: Int32, hash: UInt64) -> Bool {
    slot >= 0 && Int(slot) < nodes.count && nodes[Int(slot)].hash == hash && nodes[Int(slot)].queue != .free
  }

  /// Adds an entry at the head of a queue.
  mutating func insert(hash: UInt64, cost: Int, into queue: Queue) -> Int32 {
    let slot: Int32
    if free >= 0 {
      slot = free
      free = nodes[Int(slot)].next
      nodes[Int(slot)] = Node(hash: hash, cost: cost)
    } else {
      slot = Int32(nodes.count)
      nodes.append(Node(hash: hash, cost: cost))
    }
    link(slot, queue)
    return slot
  }

  /// Takes an entry out; its slot may be used again.
  mutating func remove(_ slot: Int32) {
    unlink(slot)
    nodes[Int(slot)].queue = .free
    nodes[Int(slot)].next = free
    free = slot
  }

  /// Moves an entry to the head of a queue.
  mutating func move(_ slot: Int32, to queue: Queue, credit: Int = 0) {
    unlink(slot)
    nodes[Int(slot)].credit = UInt8(credit)
    link(slot, queue)
  }

  /// Counts a use of an entry.
  mutating func use(_ slot: Int32) { nodes[Int(slot)].uses = min(nodes[Int(slot)].uses + 1, 15) }

  /// The uses counted here, which then are none.
  mutating func takeUses(_ slot: Int32) -> Int {
    defer { nodes[Int(slot)].uses = 0 }
    return Int(nodes[Int(slot)].uses)
  }

  /// Changes what an entry counts.
  mutating func setCost(_ cost: Int, of slot: Int32) {
    let queue = nodes[Int(slot)].queue
    with(queue) { [old = nodes[Int(slot)].cost] in $0.amount.cost += cost - old }
    nodes[Int(slot)].cost = cost
  }

  private mutating func with(_ queue: Queue, _ body: (inout Chain) -> Void) {
    switch queue {
    case .free: break
    case .small: body(&small)
    case .main: body(&main)
    case .pinned: body(&pinned)
    }
  }

  private mutating func link(_ slot: Int32, _ queue: Queue) {
    var first: Int32 = -1
    let cost = nodes[Int(slot)].cost
    with(queue) { chain in
      first = chain.head
      chain.head = slot
      if chain.tail < 0 { chain.tail = slot }
      chain.amount.count += 1
      chain.amount.cost += cost
    }
    if first >= 0 { nodes[Int(first)].previous = slot }
    nodes[Int(slot)].previous = -1
    nodes[Int(slot)].next = first
    nodes[Int(slot)].queue = queue
  }

  private mutating func unlink(_ slot: Int32) {
    let node = nodes[Int(slot)]
    if node.previous >= 0 { nodes[Int(node.previous)].next = node.next }
    if node.next >= 0 { nodes[Int(node.next)].previous = node.previous }
    with(node.queue) { chain in
      if chain.head == slot { chain.head = node.next }
      if chain.tail == slot { chain.tail = node.previous }
      chain.amount.count -= 1
      chain.amount.cost -= node.cost
    }
  }
}
