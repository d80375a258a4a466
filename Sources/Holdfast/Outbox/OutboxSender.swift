public import LMDB

/// Sends entries to where they must go; <doc:WritingASender> says how to write one.
public protocol OutboxSender: Sendable {
  /// Makes one attempt to deliver an entry.
  ///
  /// That the attempt is being made is on disk before this is called, and the outcome is written after it returns. So
  /// after a crash the same entry comes again with the same ``OutboxEntry/idempotencyKey``: send the key, and have the
  /// server ignore what it has already done. When the task is cancelled, return soon, with what is known.
  ///
  /// - Parameter entry: What to send.
  /// - Returns: What became of it.
  /// - Throws: Anything; it counts as ``SendOutcome/transient(reason:retryAfter:)``.
  func send(_ entry: OutboxEntry) async throws -> SendOutcome

  /// Asks the server whether it has an entry whose earlier attempt may or may not have reached it.
  ///
  /// Called in place of ``send(_:)`` for entries with ``RecoveryPolicy/probe``, and for others when the server may have
  /// forgotten their key. The usual answer is ``Reconciliation/unknown``.
  ///
  /// - Parameter entry: What may have been sent.
  /// - Returns: What the server knows.
  /// - Throws: Anything; it counts as ``SendOutcome/transient(reason:retryAfter:)``, and is asked again later.
  func reconcile(_ entry: OutboxEntry) async throws -> Reconciliation
}

extension OutboxSender {
  /// Says that nobody knows, so that the entry is held.
  public func reconcile(_ entry: OutboxEntry) async throws -> Reconciliation { .unknown }
}

/// What a server knows of an entry that may have been sent.
public enum Reconciliation: Sendable, Hashable {
  /// It has it; `reply` goes to the commit hook.
  case delivered(reply: [UInt8])
  /// It does not have it; it is sent now.
  case notDelivered
  /// It cannot tell. The entry is held until somebody decides.
  case unknown
  /// It could not be asked: the outcome of that, which is taken like one of a send. So it is asked again after
  /// ``SendOutcome/notSent(reason:closing:)``, ``SendOutcome/postponed(reason:closing:retryAfter:)`` and
  /// ``SendOutcome/transient(reason:retryAfter:)``, which counts as an attempt; ``SendOutcome/unsendable(reason:)`` holds
  /// the entry, and ``SendOutcome/permanent(reason:)`` gives it up.
  case failed(SendOutcome)
}

/// What to change in the store in the same transaction that settles an entry.
///
/// Hooks run on the store's writer thread inside the transaction, so they must be short, do no I/O, and change the store
/// through their transaction only. Each runs exactly once for an entry, as seen from the store: if a hook throws, its
/// changes are taken back and it is tried again, twice. Then the entry is held, and the next drain sends it again, or does
/// what its ``OutboxRequest/recovery`` says. A hook may run more than once, as a write's closure may; only the changes of
/// its last run count. What the app itself decides, such as ``Outbox/cancel(_:in:)``, runs no hook.
public struct OutboxHooks: Sendable {
  /// Runs when an entry has been delivered, with the sender's reply.
  public var onCommit: @Sendable (OutboxEntry, _ reply: [UInt8], inout WriteTransaction) throws -> Void
  /// Runs when a drain gives an entry up, with the reason; take back here what the app showed in hope.
  public var onRollback: @Sendable (OutboxEntry, _ reason: String, inout WriteTransaction) throws -> Void

  /// Makes hooks.
  ///
  /// - Parameters:
  ///   - onCommit: Runs when an entry has been delivered.
  ///   - onRollback: Runs when an entry is given up.
  public init(
    onCommit: @escaping @Sendable (OutboxEntry, [UInt8], inout WriteTransaction) throws -> Void = { _, _, _ in },
    onRollback: @escaping @Sendable (OutboxEntry, String, inout WriteTransaction) throws -> Void = { _, _, _ in }
  ) {
    self.onCommit = onCommit
    self.onRollback = onRollback
  }
}

extension OutboxHooks {
  /// What a hook has thrown, as opposed to what the outbox itself could not do.
  struct Failure: Error {
    let error: any Error
  }

  func commit(_ entry: OutboxEntry, _ reply: [UInt8], in transaction: inout WriteTransaction) throws(Failure) {
    do { try onCommit(entry, reply, &transaction) } catch { throw Failure(error: error) }
  }

  func rollback(_ entry: OutboxEntry, _ reason: String, in transaction: inout WriteTransaction) throws(Failure) {
    do { try onRollback(entry, reason, &transaction) } catch { throw Failure(error: error) }
  }

  /// What was thrown at first.
  static func cause(of error: any Error) -> any Error { (error as? Failure)?.error ?? error }

  /// Why an entry is held whose outcome could not be written.
  static func reason(for error: any Error) -> String {
    if let failure = error as? Failure { return "its hook failed: \(failure.error)" }
    return "what it leaves in the store cannot be written: \(error)"
  }
}
