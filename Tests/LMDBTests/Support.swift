import Foundation
import LMDB
import TestSupport

extension TemporaryDirectory {
  /// The directory of an environment in it.
  func callAsFunction(_ name: String = "env") -> String { "\(path)/\(name)" }
}

/// Runs `body` on threads of their own, and waits for them all.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let threads = (0..<count).map { index in TestThread { try body(index) } }
  for thread in threads { try thread.join() }
}

/// A thread that can be waited for.
final class TestThread: @unchecked Sendable {
  private let done = DispatchSemaphore(value: 0)
  private var failure: (any Error)?

  init(_ body: @escaping @Sendable () throws -> Void) {
    let thread = Thread { [self] in
      do { try body() } catch { failure = error }
      done.signal()
    }
    thread.stackSize = 1 << 20
    thread.start()
  }

  func join() throws {
    done.wait()
    done.signal()
    if let failure { throw failure }
  }
}

/// A transaction that another thread holds until it is let go.
final class Pinned: Sendable {
  private let leave = DispatchSemaphore(value: 0)
  private let thread: TestThread

  private init(_ hold: @escaping @Sendable (_ stay: () -> Void) throws -> Void) {
    let entered = DispatchSemaphore(value: 0)
    let leave = leave
    thread = TestThread {
      try hold {
        entered.signal()
        leave.wait()
      }
    }
    entered.wait()
  }

  static func reader(_ environment: Environment) -> Pinned {
    Pinned { stay in try environment.read { _ in stay() } }
  }

  static func writer(_ environment: Environment) -> Pinned {
    Pinned { stay in try environment.write { _ in stay() } }
  }

  func release() throws {
    leave.signal()
    try thread.join()
  }
}

extension Environment {
  /// An environment with one database `a`, which the tests use.
  static func make(at path: String, _ options: Options = Options()) throws -> (Environment, Database) {
    let environment = try Environment.open(at: path, databases: ["a"], options: options)
    return (environment, try environment.database("a"))
  }

  func text(_ key: String, in database: Database) throws -> String? {
    try read { t in t.bytes(key, in: database).map { String(decoding: $0, as: UTF8.self) } }
  }

  func set(_ text: String, _ key: String, in database: Database) throws {
    try write { try $0.set(Array(text.utf8), forKey: key, in: database) }
  }
}

extension ReadTransaction {
  /// A copy of a value; traps on errors, so that expectations in a closure need no `try`.
  borrowing func bytes(_ key: String, in database: Database) -> [UInt8]? {
    guard let found = try! value(forKey: key, in: database) else { return nil }
    return [UInt8](copying: found)
  }
}

/// The code of the error that `body` throws, or `nil` if it throws none.
func code<R>(of body: () throws -> R) -> StoreError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? StoreError)?.code
  }
}
