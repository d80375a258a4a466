import LMDB

extension Outbox {
  /// How a drain goes about its work.
  public struct DrainOptions: Sendable {
    /// How long a drain goes on.
    public enum Goal: Sendable, Hashable {
      /// Until each entry that was due when the drain began has been tried once, and those behind it in its lane if
      /// it was delivered; what waits behind a closed gate is not tried. What fails is left to a later drain.
      case once
      /// Until nothing is left that can be sent: all is delivered, given up, held or paused. It waits through retries,
      /// and so for as long as there is no network.
      case idle
      /// Until the task is cancelled.
      case forever
    }

    /// How long the drain goes on.
    public var goal: Goal
    /// How many attempts are in flight at once; one of each lane at most.
    public var concurrency: Int
    /// How many of them may go to one host; `nil` is all.
    public var hostConcurrency: Int?
    /// How many of them may be of a queue; queues that are not named may have all.
    public var queueConcurrency: [String: Int]
    /// How failures are retried.
    public var schedule: RetrySchedule
    /// For how long the server recognises an idempotency key; `nil` is for ever. What may have been sent before that is
    /// not sent again blindly.
    public var idempotencyWindow: Duration?
    /// What is known about the network.
    public var network: any NetworkMonitor
    /// How often to look for what other processes have enqueued; what is enqueued in this one is seen at once. `nil` is
    /// never. At least 10 ms. A look that finds nothing new costs no transaction.
    public var pollInterval: Duration?
    /// How much of the journal is kept; the drain trims it as it goes.
    public var journal: JournalRetention
    /// Told of each change that the drain makes, after its commit, in order. It must not block.
    public var onEvent: @Sendable (OutboxEvent) -> Void

    /// Makes options.
    ///
    /// - Parameters:
    ///   - goal: How long the drain goes on.
    ///   - concurrency: How many attempts are in flight at once.
    ///   - hostConcurrency: How many of them may go to one host.
    ///   - queueConcurrency: How many of them may be of a queue, by its name.
    ///   - schedule: How failures are retried.
    ///   - idempotencyWindow: For how long the server recognises an idempotency key.
    ///   - network: What is known about the network.
    ///   - pollInterval: How often to look for what other processes have enqueued.
    ///   - journal: How much of the journal is kept.
    ///   - onEvent: Told of each change, after its commit.
    public init(
      goal: Goal = .idle, concurrency: Int = 4, hostConcurrency: Int? = nil, queueConcurrency: [String: Int] = [:],
      schedule: RetrySchedule = RetrySchedule(), idempotencyWindow: Duration? = nil,
      network: any NetworkMonitor = AlwaysReachable(), pollInterval: Duration? = .seconds(1),
      journal: JournalRetention = JournalRetention(),
      onEvent: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) {
      self.goal = goal
      self.concurrency = concurrency
      self.hostConcurrency = hostConcurrency
      self.queueConcurrency = queueConcurrency
      self.schedule = schedule
      self.idempotencyWindow = idempotencyWindow
      self.network = network
      self.pollInterval = pollInterval
      self.journal = journal
      self.onEvent = onEvent
    }

    func check() throws(StoreError) {
      guard concurrency > 0, hostConcurrency.map({ $0 > 0 }) ?? true else {
        throw StoreError(.invalidOption, "A drain with a concurrency of zero or less sends nothing; use 1 or more.")
      }
    }
  }

  /// How often a drain has done what.
  public struct DrainReport: Sendable, Hashable {
    /// Entries that the server has.
    public internal(set) var delivered: Int
    /// Attempts that failed and will be made again.
    public internal(set) var retrying: Int
    /// Entries that were given up, those that were too old among them.
    public internal(set) var died: Int
    /// Entries that were set aside.
    public internal(set) var held: Int
    /// Entries that the app took back while they were in flight.
    public internal(set) var cancelled: Int
    /// Why entries are left that nothing leads to, since rows of the file are lost, and what to do; `nil` if none was
    /// found. ``Outbox/verify(repair:)`` looks at all of them.
    public internal(set) var rowsLost: String?

    /// Makes a report, to compare with.
    ///
    /// - Parameters:
    ///   - delivered: Entries that the server has.
    ///   - retrying: Attempts that failed and will be made again.
    ///   - died: Entries that were given up.
    ///   - held: Entries that were set aside.
    ///   - cancelled: Entries that the app took back while they were in flight.
    ///   - rowsLost: Why entries are left that nothing leads to.
    public init(
      delivered: Int = 0, retrying: Int = 0, died: Int = 0, held: Int = 0, cancelled: Int = 0, rowsLost: String? = nil
    ) {
      self.delivered = delivered
      self.retrying = retrying
      self.died = died
      self.held = held
      self.cancelled = cancelled
      self.rowsLost = rowsLost
    }

    mutating func count(_ event: OutboxEvent) {
      switch event {
      case .delivered: delivered += 1
      case .retrying: retrying += 1
      case .died, .expired: died += 1
      case .held: held += 1
      case .cancelled: cancelled += 1
      case .rowsLost(let reason): rowsLost = reason
      case .enqueued, .superseded, .requeued, .lagged: break
      }
    }
  }
}
