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

private enum WriteStage: UInt8, AtomicRepresentable { case new, waiting, taken, cancelled }

/// A write that a task waits for, with its closure and what that returned.
final class TypedWriteRequest<R: Sendable>: WriteRequest, @unchecked Sendable {
  // Sendable: see WriteRequest; `continuation` is written before `stage` says so, and read by whoever moves it on.
  private let body: @Sendable (inout WriteTransaction) throws -> R
  private let stage = Atomic(WriteStage.new)
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
    self.continuation = continuation
    if move(from: .new, to: .waiting) { return true }
    continuation.resume(throwing: CancellationError())
    return false
  }

  /// Resumes the task with `CancellationError`, unless the writer has taken the request.
  func cancel() {
    if move(from: .new, to: .cancelled) { return }
    if move(from: .waiting, to: .cancelled) { continuation?.resume(throwing: CancellationError()) }
  }

  override func take() -> Bool { move(from: .waiting, to: .taken) }

  private func move(from old: WriteStage, to new: WriteStage) -> Bool {
    stage.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
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
