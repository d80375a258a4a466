import LMDB

extension Outbox {
  /// Sends what is in the outbox, until the goal is reached or the task is cancelled.
  ///
  /// One drain runs at a time, over all processes; a lock that the kernel releases with the process sees to that.
  /// What an earlier drain left in flight is sent again under its key, or as its ``OutboxRequest/recovery`` says. After
  /// each event the next step is read from the store anew, so that no lost signal can stall it. When the task is
  /// cancelled, attempts in flight are cancelled, waited for and settled.
  ///
  /// - Parameters:
  ///   - sender: Makes the attempts.
  ///   - hooks: What to change in the store when an entry is settled.
  ///   - options: Goal, limits and retries.
  /// - Returns: What the drain has done, also when it was cancelled.
  /// - Throws: `busy` if another drain runs; `diskFull` or `io` if an outcome cannot be written, in which case the
  ///   entries in flight are sent again by the next drain.
  @discardableResult
  public func drain(
    with sender: some OutboxSender, hooks: OutboxHooks = OutboxHooks(), options: DrainOptions = DrainOptions()
  ) async throws -> DrainReport {
    try options.check()
    try environment.checkWritable()
    let lock = try File("\(environment.path)/outbox.lock", .lock)
    guard try lock.lock(waiting: false) else {
      throw StoreError(
        .busy, "Another drain of \(environment.path) is running, in this or another process; leave it to that one.")
    }
    defer { lock.unlock() }
    let events = Monitor<[OutboxEvent]>([])
    var outbox = self
    outbox.observer = { event in events.update { $0.append(event) } }
    try folder.collectOrphans { id in
      try environment.read { transaction in
        try transaction.value(forKey: id.bytes.span, in: attachments) != nil
      }
    }
    let drain = Drain(outbox, sender, hooks, options, events: events)
    return try await withTaskCancellationHandler {
      try await drain.run()
    } onCancel: {
      drain.cancel()
    }
  }
}
