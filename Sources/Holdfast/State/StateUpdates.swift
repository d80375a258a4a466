import LMDB

/// The merged fields of some keys, and each time they have changed what they have become.
///
/// Begins with the fields as they are. A reader that is slower than the changes gets the newest and none in between;
/// nothing is buffered and nothing read while nobody asks. An element is read after the commit that made it. The
/// sequence ends when its task is cancelled; it may be read more than once, each time from the beginning.
public struct StateUpdates: AsyncSequence, Sendable {
  /// Reads the sequence.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let store: StateStore
    private let keys: [StateKey]
    private var last: FieldMap?
    private var seen: StateSignal.Seen?

    init(_ store: StateStore, _ keys: [StateKey]) {
      self.store = store
      self.keys = keys
    }

    /// Waits until the fields differ from those before.
    ///
    /// - Returns: The fields; `nil` when the task is cancelled.
    /// - Throws: As ``StateStore/merged(_:)``; the reader may ask again.
    public mutating func next() async throws -> FieldMap? {
      while true {
        if let seen { await store.signal.wait(beyond: seen) }
        if Task.isCancelled { return nil }
        let version = store.signal.version
        let merge = try store.mergedNow(keys)
        seen = StateSignal.Seen(
          version: version, transactionID: merge.transactionID, expiresAt: merge.times.nextEnd)
        if last != merge.fields {
          last = merge.fields
          return merge.fields
        }
      }
    }
  }

  let store: StateStore
  let keys: [StateKey]

  /// Starts at the present.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(store, keys) }
}

/// The changes of the durable state in the order of their commits.
///
/// They are read from a log in the store, so that a slow reader costs no memory and those of other processes are seen
/// too. The log holds the last 4,096; a reader that falls behind further is told by ``StateChange/lagged(missed:)``.
/// The sequence ends when its task is cancelled; it may be read more than once, each time from the beginning.
public struct StateChanges: AsyncSequence, Sendable {
  /// Reads the sequence.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let store: StateStore
    private var lastStamp: UInt64
    private var pending: ArraySlice<StateChange> = []
    private var seen: StateSignal.Seen?

    init(_ store: StateStore, after stamp: UInt64) {
      self.store = store
      lastStamp = stamp
    }

    /// Waits for the next change.
    ///
    /// - Returns: The change; `nil` when the task is cancelled.
    /// - Throws: `corruptRecord` if the log is unreadable, or what reading throws; the reader may ask again.
    public mutating func next() async throws -> StateChange? {
      while true {
        if let change = pending.popFirst() { return change }
        if let seen { await store.signal.wait(beyond: seen) }
        if Task.isCancelled { return nil }
        let version = store.signal.version
        let (changes, last, id) = try store.environment.read { [store, lastStamp] transaction in
          let (changes, last) = try store.rows.log.changes(after: lastStamp, limit: 256, in: transaction)
          return (changes, last, transaction.id)
        }
        pending = changes[...]
        lastStamp = last
        seen = changes.isEmpty ? StateSignal.Seen(version: version, transactionID: id) : nil
      }
    }
  }

  let store: StateStore
  let stamp: UInt64

  /// Starts where the sequence begins.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(store, after: stamp) }
}

extension StateStore {
  /// The merged fields of some keys, now and each time they have changed, whoever changes them.
  ///
  /// ```swift
  /// for try await fields in store.state.updates(for: ["post:42", "user:7"]) {
  ///   print(fields["hasComment"] ?? false)
  /// }
  /// ```
  ///
  /// Changes of this process are seen at once, those of others and expiries within ``StateOptions/pollInterval``.
  ///
  /// - Parameter keys: The records, as for ``merged(_:)``.
  /// - Returns: A sequence that begins with the fields as they are.
  public func updates(for keys: [StateKey]) -> StateUpdates { StateUpdates(store: self, keys: keys) }

  /// The changes of the durable state, whoever makes them, in the order of their commits.
  ///
  /// Changes of this process are seen at once, those of others within ``StateOptions/pollInterval``. Those of the
  /// session are not among them.
  ///
  /// - Parameter stamp: The last change that is known already, such as one that the app has noted before it ended; `nil`
  ///   begins with the changes to come. One that is yet to come is known from another store: all that this one has is told
  ///   as ``StateChange/lagged(missed:)``.
  /// - Returns: A sequence of changes.
  /// - Throws: As reading does.
  public func changes(after stamp: UInt64? = nil) throws -> StateChanges {
    let stamp = try stamp ?? environment.read { transaction in try rows.log.lastStamp(in: transaction) }
    return StateChanges(store: self, stamp: stamp)
  }
}
