import LMDB

/// What the app knows locally: records of typed fields by `type:id`, merged on read.
///
/// ```swift
/// try store.write { transaction in
///   try store.state.update("post:42", ["hasComment": true], in: &transaction)
/// }
/// let card = try store.state.merged(["post:42", "user:7"])
/// ```
///
/// Thread-safe. Changes are made inside a transaction of the ``Store`` and become visible and durable with its commit;
/// everything in one transaction is one change, of which observers hear once. What need not outlive the process goes
/// into the ``session``. See <doc:State>.
public final class StateStore: Sendable {
  static let databases = ["state.record", "state.id", "state.expiry", "state.layer", "state.change"]

  /// Records that live in memory, for as long as this `Store` does.
  public let session: SessionState

  let environment: Environment
  let time: SystemTime
  let rows: StateRows
  let layers: OptimisticLayers
  let memo: StateMemo?
  let signal: StateSignal

  init(_ environment: Environment, time: SystemTime, options: StateOptions) throws(StoreError) {
    self.environment = environment
    self.time = time
    layers = try OptimisticLayers(environment)
    rows = layers.rows
    memo = options.memoLimit > 0 ? StateMemo(limit: options.memoLimit) : nil
    let signal = StateSignal(environment, time: time, pollInterval: options.pollInterval)
    self.signal = signal
    session = SessionState(time: time) { signal.notify() }
  }
}

/// How the state of a store is read and observed.
public struct StateOptions: Sendable, Hashable {
  /// For how many lists of keys the merged fields are kept in memory, so that reading them again is a look-up until
  /// something is committed; 0 for none, at most a million. Each takes up to 16 KiB of records.
  public var memoLimit: Int
  /// How often observers look for commits of other processes, and for records whose time is over; at least 10 ms. Only
  /// while somebody waits.
  public var pollInterval: Duration

  /// Makes options.
  ///
  /// - Parameters:
  ///   - memoLimit: For how many lists of keys the merged fields are kept in memory; 0 for none.
  ///   - pollInterval: How often observers look for commits of other processes.
  public init(memoLimit: Int = 512, pollInterval: Duration = .milliseconds(250)) {
    self.memoLimit = memoLimit
    self.pollInterval = pollInterval
  }
}
