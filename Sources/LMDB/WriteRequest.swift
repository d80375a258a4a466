import Synchronization

/// A write that a task waits for.
///
/// It is either taken by the writer, which then answers it, or cancelled; whichever comes first.
class WriteRequest: @unchecked Sendable {
  // Sendable: subclasses keep what they add under the same rule; only the writer touches it once the request is taken.
  let environment: Environment
  let durability: Environment.Options.Durability
  /// Why its changes were taken back, if they were; for the writer.
  final var failure: (any Error)?

  init(_ environment: Environment, _ durability: Environment.Options.Durability) {
    self.environment = environment
    self.durability = durability
  }

  /// Takes the request away from its task, which cannot cancel it from then on.
  func take() -> Bool { false }
  /// Makes the changes; may be called more than once.
  func perform(in transaction: inout WriteTransaction) throws {}
  /// Resumes the task, with ``failure`` if there is one.
  func answer() {}
}

/// A write that a task waits for, with its closure and what that returned.
final class TypedWriteRequest<R: Sendable>: WriteRequest, @unchecked Sendable {
  // Sendable: see WriteRequest; `stage` has a lock.
  private enum Stage {
    case new
    case waiting(CheckedContinuation<R, any Error>)
    case taken
    case cancelled
  }

  private let body: @Sendable (inout WriteTransaction) throws -> R
  private let stage = Mutex<Stage>(.new)
  private var continuation: CheckedContinuation<R, any Error>?
  private var result: R?

  init(
    _ environment: Environment, _ durability: Environment.Options.Durability,
    _ body: @escaping @Sendable (inout WriteTransaction) throws -> R
  ) {
    self.body = body
    super.init(environment, durability)
  }

  /// Suspends the task.
  ///
  /// - Returns: Whether the request can be queued; if not, it was cancelled before, and the task is resumed.
  func suspend(_ continuation: CheckedContinuation<R, any Error>) -> Bool {
    let isWaiting = stage.withLock { stage in
      guard case .new = stage else { return false }
      stage = .waiting(continuation)
      return true
    }
    if !isWaiting { continuation.resume(throwing: CancellationError()) }
    return isWaiting
  }

  /// Resumes the task with `CancellationError`, unless the writer has taken the request.
  func cancel() {
    let continuation: CheckedContinuation<R, any Error>? = stage.withLock { stage in
      switch stage {
      case .new:
        stage = .cancelled
        return nil
      case .waiting(let continuation):
        stage = .cancelled
        return continuation
      case .taken, .cancelled: return nil
      }
    }
    continuation?.resume(throwing: CancellationError())
  }

  override func take() -> Bool {
    continuation = stage.withLock { stage in
      guard case .waiting(let continuation) = stage else { return nil }
      stage = .taken
      return continuation
    }
    return continuation != nil
  }

  override func perform(in transaction: inout WriteTransaction) throws { result = try body(&transaction) }

  override func answer() {
    if let failure {
      continuation?.resume(throwing: failure)
    } else if let result {
      continuation?.resume(returning: result)
    }
    continuation = nil
  }
}
