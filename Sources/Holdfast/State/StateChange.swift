/// One change of the durable state, as ``StateStore/changes(after:)`` tells it.
public enum StateChange: Sendable, Hashable {
  /// Fields of one record were set, removed, or given or bereft of optimistic values.
  ///
  /// - `fields`: their names in byte order; `nil` if there were too many to keep (more than 1 KiB of names).
  /// - `stamp`: the number of the change, in the order of commits.
  case record(StateKey, fields: [String]?, stamp: UInt64)
  /// All records of a type were removed.
  case removedAll(type: String, stamp: UInt64)
  /// All records were removed.
  case removedEverything(stamp: UInt64)
  /// That many changes are no longer in the log, since the reader was too slow or away too long: read anew what you show.
  case lagged(missed: UInt64)
}
