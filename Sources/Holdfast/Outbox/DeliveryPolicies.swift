/// What happens when a request is added while another one of the same ``OutboxRequest/key`` is in the outbox.
///
/// All but ``append`` ask for a key.
public enum ConflictPolicy: UInt8, Sendable, Hashable {
  /// Both are sent, in order.
  case append = 1
  /// The one that is there stays, and the new one is not added.
  case keep = 2
  /// The new one takes the place of those that surely have not been sent; they leave as superseded. One that may have
  /// been sent is not touched: the new one is added behind it. Its place in the lane is the end.
  case replace = 3
}

/// What happens to an entry whose attempt may or may not have reached the server: the reply was lost, or the process
/// ended.
public enum RecoveryPolicy: UInt8, Sendable, Hashable {
  /// It is sent again under the same key, since the server recognises repeats. When the server may have forgotten the
  /// key, after ``Outbox/DrainOptions/idempotencyWindow``, it is treated like ``probe``.
  case resend = 1
  /// The sender is asked what the server knows, with ``OutboxSender/reconcile(_:)``, before it is sent again.
  case probe = 2
  /// It is held until somebody decides: at most one attempt is made on its own.
  case hold = 3
}

/// Which of the entries that may go out goes first, among those of one host, queue and credentials.
///
/// Whoever has waited counts as one level higher after each ten minutes, so that nobody waits for ever.
public enum DeliveryPriority: UInt8, Sendable, Hashable, Comparable, CaseIterable {
  /// Somebody is waiting for it.
  case high = 1
  /// The usual.
  case normal = 2
  /// Nobody would notice if it came later. It also leaves the network alone for longer after a reconnection.
  case background = 3

  /// Whether the left one is the lower: ``high`` is above ``normal``. Raw values, which are those on disk, count the
  /// other way.
  public static func < (lhs: DeliveryPriority, rhs: DeliveryPriority) -> Bool { lhs.rawValue > rhs.rawValue }
}
