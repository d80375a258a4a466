/// What became of one attempt to send an entry.
public enum SendOutcome: Sendable, Hashable {
  /// The server has it; `reply` goes to the commit hook.
  case delivered(reply: [UInt8])
  /// It failed and may succeed later; this counts towards giving up. `retryAfter` is the least wait the server asked
  /// for.
  case transient(reason: String, retryAfter: Duration? = nil)
  /// Something that is not the entry's fault stood in the way of it, such as a server that is overloaded or
  /// credentials that have expired. It does not count towards giving up. Whatever goes through the closed gate waits,
  /// at least for `retryAfter` if the server asked for that.
  case postponed(reason: String, closing: SendGate? = nil, retryAfter: Duration? = nil)
  /// It surely did not reach the server; this does not count as an attempt. Whatever goes through the closed gate
  /// waits.
  case notSent(reason: String, closing: SendGate? = .network)
  /// Nobody knows whether the server has it: the request left, and the reply did not come. It counts, and
  /// ``OutboxRequest/recovery`` says what comes next.
  case ambiguous(reason: String)
  /// It cannot be sent by this version of the app: its kind is unknown, its payload unreadable, or a file is missing.
  /// It is held until the next drain.
  case unsendable(reason: String)
  /// The attempt was cancelled under it: it may have reached the server, and does not count towards giving up.
  case interrupted
  /// The server will never accept it.
  case permanent(reason: String)
}

/// What several entries go through on their way, and what can be closed for all of them at once.
///
/// A closed gate lets one entry through when its time is over; if that succeeds the gate is open.
public enum SendGate: UInt8, Sendable, Hashable, CaseIterable {
  /// The host of the entry, by ``OutboxRequest/host``.
  case host = 1
  /// The credentials of the entry, by ``OutboxRequest/credentials``.
  case credentials = 2
  /// The network, for all entries.
  case network = 3
}
