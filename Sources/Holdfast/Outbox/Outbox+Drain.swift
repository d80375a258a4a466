import LMDB

extension Outbox {
  /// How a drain goes about its work.
  public struct DrainOptions: Sendable {
    /// How long a drain goes on.
    public enum Goal: Sendable, Hashable {
      /// Until each entry that was due when the drain began has been tried once, and those behind it in its lane if
      /// it was delivered. What fails is left to a later drain.
      case once
      /// Until nothing is left that can be sent: all is delivered, given up or held. It waits through retries, and so
      /// for as long as there is no network.
      case idle
      /// Until the task is cancelled.
      case forever
    }

    /// How long the drain goes on.
    public var goal: Goal
    /// How many lanes are served at once.
    public var concurrency: Int
    /// How failures are retried.
    public var schedule: RetrySchedule
    /// How often to look for what other processes, and other `Store`s of the same path, have enqueued; what is enqueued
    /// through this one is seen at once. At least 10 ms.
    public var pollInterval: Duration
    /// Told of each change, after its commit, in order. It must not block.
    public var onEvent: @Sendable (OutboxEvent) -> Void

    /// Makes options.
    ///
    /// - Parameters:
    ///   - goal: How long the drain goes on.
    ///   - concurrency: How many lanes are served at once.
    ///   - schedule: How failures are retried.
    ///   - pollInterval: How often to look for what other processes have enqueued.
    ///   - onEvent: Told of each change, after its commit.
    public init(
      goal: Goal = .idle, concurrency: Int = 4, schedule: RetrySchedule = RetrySchedule(),
      pollInterval: Duration = .seconds(1), onEvent: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) {
      self.goal = goal
      self.concurrency = concurrency
      self.schedule = schedule
      self.pollInterval = pollInterval
      self.onEvent = onEvent
    }
  }

  /// How often a drain has done what.
  public struct DrainReport: Sendable, Hashable {
    /// Entries that the server has.
    public internal(set) var delivered = 0
    /// Attempts that failed and will be made again.
    public internal(set) var retrying = 0
    /// Entries that were given up.
    public internal(set) var died = 0
    /// Entries that were set aside until the next drain.
    public internal(set) var held = 0

    mutating func count(_ event: OutboxEvent) {
      switch event {
      case .delivered: delivered += 1
      case .retrying: retrying += 1
      case .died: died += 1
      case .held: held += 1
      }
    }
  }

  /// Sends what is in the outbox, until the goal is reached or the task is cancelled.
  ///
  /// One drain runs at a time, over all processes; a lock that the kernel releases with the process sees to that.
  /// Entries that an earlier drain left in flight are sent again under their key. After each event the next step is
  /// read from the store anew, so that no lost signal can stall it. When the task is cancelled, attempts in flight are
  /// cancelled, waited for and settled.
  ///
  /// - Parameters:
  ///   - sender: Makes the attempts.
  ///   - hooks: What to change in the store when an entry is settled.
  ///   - options: Goal, concurrency and retries.
  /// - Returns: What the drain has done, also when it was cancelled.
  /// - Throws: `busy` if another drain runs; `diskFull` or `io` if an outcome cannot be written, in which case the
  ///   entries in flight are sent again by the next drain.
  @discardableResult
  public func drain(
    with sender: some OutboxSender, hooks: OutboxHooks = OutboxHooks(), options: DrainOptions = DrainOptions()
  ) async throws -> DrainReport {
    guard options.concurrency > 0 else {
      throw StoreError(
        .invalidOption, "A drain with a concurrency of \(options.concurrency) sends nothing; use 1 or more.")
    }
    try environment.checkWritable()
    let lock = try File("\(environment.path)/outbox.lock", .lock)
    guard try lock.lock(waiting: false) else {
      throw StoreError(
        .busy, "Another drain of \(environment.path) is running, in this or another process; leave it to that one.")
    }
    defer { lock.unlock() }
    // In a task of its own, so that a drain which is cancelled already ends like any other.
    let epoch = try await Task {
      try await environment.write { transaction in try recover(in: &transaction) }
    }.value
    try folder.collectOrphans { id in
      try environment.read { transaction in
        try transaction.value(forKey: id.bytes.span, in: attachments) != nil
      }
    }
    return try await withTaskCancellationHandler {
      try await Drain(self, sender, hooks, options, epoch: epoch).run()
    } onCancel: {
      wakeUp.signal()
    }
  }
}
