public import LMDB

extension Outbox {
  /// A gate that is closed, and until when.
  public struct ClosedGate: Sendable, Hashable {
    /// What it is for; never the network, which the drain judges for itself.
    public let kind: SendGate
    /// The name of the host or the credentials; empty for the sender's own.
    public let name: String
    /// When the next entry may try, in milliseconds since 1970.
    public let until: Int64

    /// Makes a gate, to compare with.
    ///
    /// - Parameters:
    ///   - kind: What it is for.
    ///   - name: The name of the host or the credentials; empty for the sender's own.
    ///   - until: When the next entry may try, in milliseconds since 1970.
    public init(kind: SendGate, name: String, until: Int64) {
      self.kind = kind
      self.name = name
      self.until = until
    }
  }

  /// Lets what waits for a host or for credentials try at once, such as after the user has signed in again.
  ///
  /// - Parameters:
  ///   - kind: What the gate is for; the network has none that could be opened.
  ///   - name: The name of the host or the credentials; `nil` for the sender's own.
  ///   - transaction: A write transaction of this store.
  /// - Throws: `damaged` or `io` if the file cannot be read.
  public func open(
    _ kind: SendGate, named name: String? = nil, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    try remove(kind, name, in: &transaction)
    transaction.afterCommit { [wakeUp] in wakeUp.signal() }
  }

  /// The gates that are closed or being tried.
  ///
  /// - Throws: `damaged` or `io` if the file cannot be read.
  public func closedGates() throws -> [ClosedGate] {
    try environment.read { transaction in
      let clock = try clock(in: transaction)
      var found: [ClosedGate] = []
      var cursor = try transaction.cursor(in: gates)
      while try cursor.next() {
        guard let kind = SendGate(rawValue: cursor.key[0]), let gate = try? Gate(decoding: cursor.value) else {
          continue
        }
        found.append(ClosedGate(kind: kind, name: gate.name, until: clock.wall(of: gate.until)))
      }
      return found
    }
  }

  private func gateKey(_ kind: SendGate, _ name: String?) -> ShortBytes {
    var key = ShortBytes()
    key.append(kind.rawValue)
    key.append(SipHash.hash128(name ?? ""))
    return key
  }

  /// The gate if it is not open; one that cannot be read is open.
  func gate(_ kind: SendGate, _ name: String?, in transaction: borrowing ReadTransaction) throws(StoreError) -> Gate? {
    if try transaction.count(of: gates) == 0 { return nil }
    guard let bytes = try transaction.value(forKey: gateKey(kind, name), in: gates) else { return nil }
    return try? Gate(decoding: bytes)
  }

  private func remove(
    _ kind: SendGate, _ name: String?, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    // Mostly all are open.
    if try transaction.reader.count(of: gates) > 0 { try transaction.remove(gateKey(kind, name), in: gates) }
  }

  /// What an outcome means for those who go the same way.
  func moveGates(
    of entry: OutboxEntry, after outcome: SendOutcome, at clock: OutboxClock, _ schedule: RetrySchedule,
    in transaction: inout WriteTransaction
  ) throws(StoreError) {
    switch outcome {
    case .delivered, .permanent:
      try remove(.host, entry.host, in: &transaction)
      try remove(.credentials, entry.credentials, in: &transaction)
    case .postponed(_, let kind?, let pause):
      try close(kind, of: entry, atLeast: pause, at: clock, schedule, in: &transaction)
    case .notSent(_, let kind?):
      try close(kind, of: entry, atLeast: nil, at: clock, schedule, in: &transaction)
    case .transient, .postponed, .notSent, .ambiguous, .unsendable, .interrupted:
      break
    }
  }

  private func close(
    _ kind: SendGate, of entry: OutboxEntry, atLeast pause: Duration?, at clock: OutboxClock,
    _ schedule: RetrySchedule, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let name: String?
    switch kind {
    case .host: name = entry.host
    case .credentials: name = entry.credentials
    case .network: return
    }
    var gate = try gate(kind, name, in: transaction.reader) ?? Gate(name: name ?? "")
    var random = SystemRandomNumberGenerator()
    gate.close(at: clock.time, atLeast: pause, schedule, using: &random)
    try transaction.set(gate.encoded, forKey: gateKey(kind, name), in: gates)
  }
}
