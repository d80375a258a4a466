/// What has happened to an entry; reported after the commit that made it so.
public enum OutboxEvent: Sendable, Hashable {
  /// The server has it, and it has left the outbox.
  case delivered(EntryID)
  /// An attempt failed; the next one is not before `at`, in milliseconds since 1970.
  case retrying(EntryID, reason: String, at: Int64)
  /// It was given up and moved to the dead letters.
  case died(EntryID, reason: String)
  /// It was set aside, with its lane, until the next drain.
  case held(EntryID, reason: String)
}
