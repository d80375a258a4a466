import Holdfast
import LMDB

/// A store whose outbox is filled, drained, cancelled and requeued, and that notes what it has been told is durable.
///
/// Each request has a record `op:NUMBER`, whose `state` is written in the transactions of the outbox.
struct OutboxWorkload {
  static let steps = 60
  /// The most requests of one step; their numbers begin with that of the step.
  static let perStep = 4
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func run(at path: String) async throws {
    let notes = try File("\(path)/notes", .new)
    let store = try Store.open(at: path)
    for step in 1...Self.steps {
      try notes.write(Array("begin \(step)\n".utf8).span)
      switch below(6) {
      case 0: try await drain(store)
      case 1: try decide(store)
      default: try add(below(Self.perStep) + 1, at: step, to: store)
      }
      let content = try Self.states(store, through: step).map { "\($0.key) \($0.value)" }
      try notes.write(Array("end \(step)|\(content.joined(separator: "|"))\n".utf8).span)
    }
  }

  static func key(_ number: Int) -> StateKey { StateKey(type: "op", id: "\(number)") }

  /// What the records say of all requests up to a step.
  static func states(_ store: Store, through step: Int) throws -> [Int: String] {
    var found: [Int: String] = [:]
    for number in 0..<(step + 1) * perStep {
      if let state = try store.state.merged([key(number)])["state"]?.stringValue { found[number] = state }
    }
    return found
  }

  /// The content of a file, which tells whose it is.
  static func file(_ number: Int, _ size: Int) -> [UInt8] {
    let line = "\(number) \(size)\n"
    return Array(String(repeating: line, count: size / line.utf8.count + 1).utf8.prefix(size))
  }

  private mutating func add(_ count: Int, at step: Int, to store: Store) throws {
    for number in step * Self.perStep..<step * Self.perStep + count {
      var request = OutboxRequest(kind: "k", lane: "\(below(5))", payload: Array("\(number)".utf8))
      if below(3) == 0 {
        let size = [1, 5000, 40_000][below(3)]
        request.attachments = [try store.outbox.stage(Self.file(number, size), name: "\(size)", mediaType: "m")]
      }
      try commit(store) { t in
        try store.state.update(Self.key(number), ["state": "waiting"], in: &t)
        try store.outbox.enqueue(request, in: &t)
      }
    }
  }

  private mutating func drain(_ store: Store) async throws {
    let salt = UInt64(below(1 << 30))
    let hooks = OutboxHooks(
      onCommit: { entry, _, t in
        try store.state.update(Self.key(entry.number), ["state": "sent"], in: &t)
      },
      onRollback: { entry, _, t in
        try store.state.update(Self.key(entry.number), ["state": "failed"], in: &t)
      })
    try await store.outbox.drain(with: WorkloadSender(salt: salt), hooks: hooks, options: .init(goal: .once))
  }

  private mutating func decide(_ store: Store) throws {
    if below(2) == 0, let entry = try store.outbox.pendingEntries(limit: 1).first?.entry.get() {
      try commit(store) { t in
        try store.outbox.cancel(.entry(entry.id), in: &t)
        try store.state.update(Self.key(entry.number), ["state": "cancelled"], in: &t)
      }
    } else if let letter = try store.outbox.deadEntries(limit: 1).first {
      try commit(store) { t in
        try store.outbox.requeue(letter.entry.id, in: &t)
        try store.state.update(Self.key(letter.entry.number), ["state": "waiting"], in: &t)
      }
    }
  }

  private func commit(_ store: Store, _ body: (inout WriteTransaction) throws -> Void) throws {
    try store.write(body)
  }

  private mutating func below(_ limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(limit))
  }
}

extension OutboxEntry {
  /// The number of the request, which is its payload.
  var number: Int { Int(String(decoding: payload, as: UTF8.self)) ?? -1 }
}

/// Delivers most entries, and refuses or fails the others.
private struct WorkloadSender: OutboxSender {
  let salt: UInt64

  func send(_ entry: OutboxEntry) async -> SendOutcome {
    switch (entry.id.rawValue &* 0x9E37_79B9_7F4A_7C15 &+ salt) >> 5 % 6 {
    case 0: .permanent(reason: "http 400")
    case 1: .transient(reason: "http 500")
    default: .delivered(reply: [])
    }
  }
}
