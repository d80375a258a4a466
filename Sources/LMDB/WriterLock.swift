#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Admits one thread of this process to the write transaction.
///
/// LMDB's own lock, which also keeps out other processes, deadlocks when a thread takes it twice; this one throws.
final class WriterLock: Sendable {
  private let owner = Monitor<UInt?>(nil)

  /// Runs `body` while no other thread of this process does, waiting for its turn.
  func run<R: ~Copyable>(for path: String, _ body: () throws -> R) throws -> R {
    let thread = currentThread()
    let isOurs = owner.wait { owner -> Bool? in
      if owner == thread { return true }
      if owner != nil { return nil }
      owner = thread
      return false
    }
    if isOurs {
      throw StoreError(
        .nestedWrite,
        "A write of \(path) was begun inside another one on the same thread; use the transaction at hand, or nested().")
    }
    defer { owner.update { $0 = nil } }
    return try body()
  }

  private func currentThread() -> UInt {
    #if canImport(Darwin)
      unsafe UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
