import LMDB

extension ReplayCursor {
  /// Follows the journal: first what is pending, then what happens, in order.
  ///
  /// Each batch is handed out once a sequence, whether it is committed or not; what was not is handed out again by the
  /// next sequence. Between commits of this process nothing runs. The sequence ends when its task is cancelled.
  ///
  /// - Parameters:
  ///   - limit: How many records a batch has at most; none is empty.
  ///   - pollInterval: How often to look for what other processes have committed; `nil` if only this one writes.
  /// - Returns: The batches; throws as ``next(limit:after:)``.
  public func batches(
    limit: Int = 100, pollInterval: Duration? = nil
  ) -> AsyncThrowingStream<[JournalRecord], any Error> {
    let tail = Tail(self, limit: max(1, limit), pollInterval: pollInterval)
    return AsyncThrowingStream { try await tail.next() }
  }

  /// One follower; its sequence asks for one batch at a time.
  private final class Tail: Sendable {
    private let cursor: ReplayCursor
    private let limit: Int
    private let pollInterval: Duration?
    private let last = Monitor<UInt64>(0)
    private let wakeUp: WakeUp
    private let observation: CommitObservation

    init(_ cursor: ReplayCursor, limit: Int, pollInterval: Duration?) {
      self.cursor = cursor
      self.limit = limit
      self.pollInterval = pollInterval
      let wakeUp = WakeUp()
      self.wakeUp = wakeUp
      // Before the first read, so that no commit falls in between.
      observation = cursor.outbox.environment.observeCommits { _ in wakeUp.signal() }
    }

    func next() async throws -> [JournalRecord]? {
      while !Task.isCancelled {
        let batch = try cursor.next(limit: limit, after: last.update { $0 })
        if let newest = batch.last {
          last.update { $0 = newest.sequence }
          return batch
        }
        await rest()
      }
      return nil
    }

    private func rest() async {
      let timer = pollInterval.map { interval in
        Task { [wakeUp, time = cursor.outbox.time] in
          do { try await time.sleep(interval) } catch { return }
          wakeUp.signal()
        }
      }
      await withTaskCancellationHandler {
        await wakeUp.wait()
      } onCancel: {
        wakeUp.signal()
      }
      timer?.cancel()
    }
  }
}
