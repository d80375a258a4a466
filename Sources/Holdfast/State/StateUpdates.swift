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
    let keys: [StateKey]
    private let base: FieldMap
    private var last: FieldMap?
    private var seen: StateSignal.Seen?

    init(_ store: StateStore, _ keys: [StateKey], over base: FieldMap) {
      self.store = store
      self.keys = keys
      self.base = base
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
        seen = StateSignal.Seen(version: version, transactionID: merge.transactionID, times: merge.times)
        var fields = base
        fields.merge(merge.fields)
        if last != fields {
          last = fields
          return fields
        }
      }
    }
  }

  let store: StateStore
  let keys: [StateKey]
  /// Fields that every record overrides.
  let base: FieldMap

  /// Starts at the present.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(store, keys, over: base) }
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
  public func updates(for keys: [StateKey]) -> StateUpdates { updates(for: keys, over: [:]) }

  /// The merged fields of some keys over those of a model, now and each time they have changed; see ``updates(for:)``.
  ///
  /// What makes no difference over the model is no change.
  ///
  /// - Parameters:
  ///   - keys: The records, as for ``merged(_:)``.
  ///   - base: Fields that every record overrides: what the server sent.
  /// - Returns: A sequence that begins with the fields as they are.
  public func updates(for keys: [StateKey], over base: FieldMap) -> StateUpdates {
    StateUpdates(store: self, keys: keys, base: base)
  }

  /// The merged fields of some keys as a value of your own type, now and each time they have changed; see
  /// ``updates(for:)``.
  ///
  /// Where no record is, the fields are those of `base`: if the type needs some, give them there, or make its properties
  /// optional. Otherwise the sequence throws, as ``merged(_:over:as:)`` does.
  ///
  /// ```swift
  /// struct Card: Codable {
  ///   var title: String
  ///   var isFollowed: Bool?
  /// }
  /// let sent = try FieldEncoder().encode(Card(title: "Hello"))
  /// for try await card in store.state.updates(for: ["user:7", "post:42"], over: sent, as: Card.self) {
  ///   print(card.title, card.isFollowed ?? false)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - keys: The records, as for ``merged(_:)``.
  ///   - base: Fields that every record overrides, such as what the server sent.
  ///   - type: What to make of the fields, by ``FieldDecoder``.
  /// - Returns: A sequence that begins with the value as it is.
  public func updates<Value: Decodable & Sendable>(
    for keys: [StateKey], over base: FieldMap = [:], as type: Value.Type
  ) -> DecodedStateUpdates<Value> {
    DecodedStateUpdates(updates: updates(for: keys, over: base))
  }

  /// The changes of the durable state, whoever makes them, in the order of their commits.
  ///
  /// Changes of this process are seen at once, those of others within ``StateOptions/pollInterval``. Those of the
  /// session are not among them.
  ///
  /// - Parameter stamp: The last change that is known already, such as one that the app has noted before it ended, or
  ///   ``lastStamp(in:)`` of the snapshot from which it has taken its copy; `nil`
  ///   begins with the changes to come. One that is yet to come is known from another store: all that this one has is told
  ///   as ``StateChange/lagged(missed:)``.
  /// - Returns: A sequence of changes.
  /// - Throws: As reading does.
  public func changes(after stamp: UInt64? = nil) throws -> StateChanges {
    StateChanges(store: self, stamp: try stamp ?? lastStamp())
  }
}
