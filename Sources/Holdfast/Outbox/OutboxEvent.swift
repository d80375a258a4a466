/// What has happened to an entry; reported after the commit that made it so.
public enum OutboxEvent: Sendable, Hashable {
  /// It was added.
  case enqueued(EntryID)
  /// The server has it, and it has left the outbox.
  case delivered(EntryID)
  /// An attempt failed; the next one is not before `at`, in milliseconds since 1970.
  case retrying(EntryID, reason: String, at: Int64)
  /// It was given up and moved to the dead letters.
  case died(EntryID, reason: String)
  /// It was too old, and was moved to the dead letters.
  case expired(EntryID)
  /// It was set aside, with its lane.
  case held(EntryID, reason: String)
  /// It was taken back by the app.
  case cancelled(EntryID)
  /// A newer entry of the same key took its place.
  case superseded(EntryID, by: EntryID)
  /// It waits again: a dead letter under this new number, or an entry that was held or left in flight.
  case requeued(EntryID)
  /// A drain has found that rows are lost which lead to entries, so that some are not sent; `reason` says which, and what
  /// to do.
  case rowsLost(reason: String)
  /// Whoever listens was too slow, and has missed this many events; what is there now must be read from the store.
  case lagged(missed: Int)
}
