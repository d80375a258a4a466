extension Environment {
  /// The most bytes of keys and values in one group, with what LMDB needs around them, after which the others wait for
  /// the next: LMDB keeps the memory of its largest transaction.
  private static let groupByteLimit = 64 << 20

  /// Runs `body` in the write transaction on the environment's writer thread, and commits its changes.
  ///
  /// The task is suspended until the commit is durable; no thread of the cooperative pool is blocked. The writes of
  /// tasks that wait at the same time share one commit, and so one flush, in the order in which they asked; each is
  /// still taken back alone if its closure throws. A task that writes alone pays about 50 µs for two changes of thread,
  /// little beside a flush. Where nothing is flushed (``Options/Durability/unsafeNoSync``) they would be most of the
  /// cost: a write that finds nobody before it is then done on the cooperative pool, where it waits for nothing but a
  /// writer of another process and, when the map must grow, for readers.
  ///
  /// Nothing is refused for being too much. A group has at most 1,024 members and, but for its last one, 64 MiB of
  /// keys and values, which bounds the memory of the commit; what a waiting task holds is what its closure captured.
  ///
  /// **`body` may run more than once**: when the map has to grow, and when the commit of a group fails and its members
  /// are tried one by one. Only the changes of its last run count.
  ///
  /// A task that is cancelled while its write waits for its turn throws `CancellationError`, and nothing happened.
  /// After that, cancelling does nothing: the write is done, and its result is returned.
  ///
  /// - Parameters:
  ///   - durability: When this commit is durable; `nil` is what the environment was opened with. A group is as durable
  ///     as its most demanding member.
  ///   - body: Makes the changes, synchronously.
  /// - Returns: What `body` returns, after the commit.
  /// - Throws: As the synchronous ``write(durability:_:)-(_,_)``; `CancellationError`.
  @discardableResult
  public func write<R: Sendable>(
    durability: Options.Durability? = nil, _ body: @escaping @Sendable (inout WriteTransaction) throws -> R
  ) async throws -> R {
    try checkWritable(durability)
    let durability = durability ?? options.durability
    if durability == .unsafeNoSync, let result = try await writeAtOnce(body) { return result }
    let request = TypedWriteRequest(self, durability, body)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if request.suspend(continuation) { asynchronousWriter.append(request) }
      }
    } onCancel: {
      request.cancel()
    }
  }

  /// Writes on a thread of the cooperative pool, if nobody is before it.
  ///
  /// Nothing is flushed, so that this takes less than the change of thread would.
  ///
  /// - Returns: `nil` if the write must be queued.
  @concurrent
  private func writeAtOnce<R: Sendable>(
    _ body: @Sendable (inout WriteTransaction) throws -> R
  ) async throws -> R? {
    try Task.checkCancellation()
    guard asynchronousWriter.isIdle, writer.tryLock() else { return nil }
    return try commitAndUnlock(.unsafeNoSync, body)
  }

  /// Commits as many of the requests as belong in one transaction, and answers them.
  ///
  /// - Returns: How many it has answered; at least one.
  func commit(_ requests: ArraySlice<WriteRequest>) -> Int {
    guard requests.count > 1 else {
      for request in requests { commitAlone(request) }
      return requests.count
    }
    do {
      let members = try commitTogether(requests)
      for request in members { request.answer() }
      return members.count
    } catch {
      // One answer for all would be wrong for most: a smaller commit may have room where this one had not.
      for request in requests { commitAlone(request) }
      return requests.count
    }
  }

  private func commitTogether(_ requests: ArraySlice<WriteRequest>) throws -> ArraySlice<WriteRequest> {
    let durabilities = requests.map(\.durability)
    let durability: Options.Durability =
      durabilities.contains(.full) ? .full : durabilities.contains(.relaxed) ? .relaxed : .unsafeNoSync
    return try write(durability: durability) { transaction in
      var end = requests.startIndex
      for request in requests where transaction.changedBytes < Self.groupByteLimit {
        end += 1
        request.failure = nil
        do {
          try transaction.nested { try request.perform(in: &$0) }
        } catch {
          // A failure of LMDB dooms the whole transaction; one of the closure does not.
          if let doom = transaction.failure { throw doom }
          request.failure = error
        }
      }
      return requests[..<end]
    }
  }

  private func commitAlone(_ request: WriteRequest) {
    request.failure = nil
    do {
      try write(durability: request.durability) { try request.perform(in: &$0) }
    } catch {
      request.failure = error
    }
    request.answer()
  }
}
