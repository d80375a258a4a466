public import LMDB

/// What can be paused as one.
public enum OutboxScope: Sendable, Hashable {
  /// Everything.
  case all
  /// The requests of a queue.
  case queue(String)
  /// The requests of a lane.
  case lane(String)
  /// The requests for a host; `nil` is the sender's own.
  case host(String?)
  /// The requests with these credentials; `nil` is the sender's own.
  case credentials(String?)

  fileprivate var parts: (kind: UInt8, name: String) {
    switch self {
    case .all: (0, "")
    case .queue(let name): (1, name)
    case .lane(let name): (2, name)
    case .host(let name): (3, name ?? "")
    case .credentials(let name): (4, name ?? "")
    }
  }

  fileprivate var key: ShortBytes {
    var key = ShortBytes()
    key.append(parts.kind)
    key.append(SipHash.hash128(parts.name))
    return key
  }

  init?(kind: UInt8, name: String) {
    switch kind {
    case 0: self = .all
    case 1: self = .queue(name)
    case 2: self = .lane(name)
    case 3: self = .host(name.isEmpty ? nil : name)
    case 4: self = .credentials(name.isEmpty ? nil : name)
    default: return nil
    }
  }
}

extension Outbox {
  /// Has no more attempts begin in a scope, in this and all later drains of all processes, until ``resume(_:in:)``.
  ///
  /// Attempts that are in flight go on. What is paused still grows old. Pausing twice is pausing once.
  ///
  /// - Parameters:
  ///   - scope: What to pause.
  ///   - transaction: A write transaction of this store.
  /// - Throws: `invalidValue` if the name in the scope is over ``OutboxRequest/nameLimit``.
  public func pause(_ scope: OutboxScope, in transaction: inout WriteTransaction) throws(StoreError) {
    let name = scope.parts.name
    guard name.utf8.count <= OutboxRequest.nameLimit else {
      throw StoreError(
        .invalidValue, "The name of a scope is over \(OutboxRequest.nameLimit) bytes, and no request can have it.")
    }
    try transaction.set(Array(name.utf8), forKey: scope.key, in: pauses)
    guard case .lane(let lane) = scope, let head = try head(ofLane: lane, in: transaction),
      let state = try readableState(of: head, in: transaction.reader), state.phase == .waiting
    else { return }
    try transaction.remove(DueKey(state, head).bytes, in: due)
  }

  /// Ends a pause; the drain of this process looks at once, that of another one soon.
  ///
  /// - Parameters:
  ///   - scope: What was paused. Other pauses that apply to the same entries stay.
  ///   - transaction: A write transaction of this store.
  /// - Throws: `damaged` or `io` if the file cannot be read.
  public func resume(_ scope: OutboxScope, in transaction: inout WriteTransaction) throws(StoreError) {
    try transaction.remove(scope.key, in: pauses)
    if case .lane(let lane) = scope {
      try promoteHead(ofLane: lane, at: try clock(in: transaction.reader), in: &transaction)
    }
    transaction.afterCommit { [wakeUp] in wakeUp.signal() }
  }

  /// What is paused, in no order.
  ///
  /// - Throws: `damaged` or `io` if the file cannot be read.
  public func pausedScopes() throws -> [OutboxScope] {
    try environment.read { transaction in
      var found: [OutboxScope] = []
      var cursor = try transaction.cursor(in: pauses)
      while try cursor.next() {
        let name = String(decoding: [UInt8](copying: cursor.value), as: UTF8.self)
        if let scope = OutboxScope(kind: cursor.key[0], name: name) { found.append(scope) }
      }
      return found
    }
  }

  func isPaused(_ scope: OutboxScope, in transaction: borrowing ReadTransaction) throws(StoreError) -> Bool {
    if try transaction.count(of: pauses) == 0 { return false }
    return try transaction.value(forKey: scope.key, in: pauses) != nil
  }

  /// Whether a pause keeps a route closed.
  func isPaused(_ route: Route, in transaction: borrowing ReadTransaction) throws(StoreError) -> Bool {
    if try transaction.count(of: pauses) == 0 { return false }
    for scope in [.all, .queue(route.queue), .host(route.host), .credentials(route.credentials)] as [OutboxScope] {
      if try isPaused(scope, in: transaction) { return true }
    }
    return false
  }
}
