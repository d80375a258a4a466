import LMDB

@testable import Holdfast

/// A clock that stands still until the test moves it, or jumps to the end of each sleep.
final class ManualClock: Sendable {
  private struct Sleeper {
    let id: Int
    let end: Int64
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now: Int64 = 1_000_000_000_000
    var sleepers: [Sleeper] = []
    var cancelled: Set<Int> = []
    var sleeps = 0
    var watchers: [(range: ClosedRange<Int64>, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Monitor(State())
  private let isJumping: Bool

  init(isJumping: Bool) { self.isJumping = isJumping }

  var now: Int64 { state.update { $0.now } }
  /// How often somebody has begun to sleep.
  var sleeps: Int { state.update { $0.sleeps } }
  var time: SystemTime { SystemTime(now: { self.now }, sleep: { try await self.sleep($0) }) }

  private func sleep(_ duration: Duration) async throws {
    try Task.checkCancellation()
    let id = state.update { state in
      state.sleeps += 1
      if isJumping { state.now += duration.milliseconds }
      return state.sleeps
    }
    if isJumping { return }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let ready = state.update { state -> [CheckedContinuation<Void, Never>] in
          if state.cancelled.remove(id) != nil {
            continuation.resume(throwing: CancellationError())
            return []
          }
          state.sleepers.append(Sleeper(id: id, end: state.now + duration.milliseconds, continuation: continuation))
          return Self.takeWatchers(&state)
        }
        for watcher in ready { watcher.resume() }
      }
    } onCancel: {
      let sleeper = state.update { state -> Sleeper? in
        guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
          state.cancelled.insert(id)
          return nil
        }
        return state.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  private static func takeWatchers(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    let rests = state.sleepers.map { $0.end - state.now }
    func isReady(_ range: ClosedRange<Int64>) -> Bool { rests.contains { range.contains($0) } }
    let ready = state.watchers.filter { isReady($0.range) }.map(\.continuation)
    state.watchers.removeAll { isReady($0.range) }
    return ready
  }

  /// Waits until somebody sleeps for at least that long from now.
  func somebodySleeps(atLeast duration: Duration) async { await somebodySleeps(duration.milliseconds ... .max) }

  /// Waits until somebody sleeps for at most that long from now.
  func somebodySleeps(atMost duration: Duration) async { await somebodySleeps(0...duration.milliseconds) }

  private func somebodySleeps(_ range: ClosedRange<Int64>) async {
    await withCheckedContinuation { continuation in
      let ready = state.update { state in
        state.watchers.append((range, continuation))
        return Self.takeWatchers(&state)
      }
      for watcher in ready { watcher.resume() }
    }
  }

  /// Moves the time on and wakes whoever has slept long enough.
  func advance(by duration: Duration) {
    let due = state.update { state in
      state.now += duration.milliseconds
      let due = state.sleepers.filter { $0.end <= state.now }
      state.sleepers.removeAll { $0.end <= state.now }
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }
}
