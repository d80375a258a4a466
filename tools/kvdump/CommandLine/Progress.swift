import LMDBFile
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How far a long command has come: a line on the terminal once it has taken a second, or when SIGUSR1 asks.
struct Progress {
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var lastShown = ContinuousClock.now
  private var isOnScreen = false
  private var calls = 0

  init(isShown: Bool) { self.isShown = isShown }

  /// Called for each record or page; looks at the clock now and then.
  ///
  /// - Throws: `interrupted` after Ctrl-C.
  @inline(__always)
  mutating func step(_ done: @autoclosure () -> String) throws(Failure) {
    calls &+= 1
    if calls & 0xFFF == 0 { try look(done()) }
  }

  mutating func look(_ done: String) throws(Failure) {
    if Interrupt.isRequested { throw Interrupt.failure }
    let now = ContinuousClock.now
    let isAsked = Interrupt.takeQuestion()
    guard isAsked || isShown && now - start > .seconds(1) && now - lastShown > .milliseconds(200) else { return }
    lastShown = now
    isOnScreen = !isAsked
    writeError(isAsked ? "kvdump: \(done)\n" : "\r\u{1B}[K\(done)")
  }

  /// Takes the line away again.
  mutating func clear() {
    if isOnScreen { writeError("\r\u{1B}[K") }
    isOnScreen = false
  }
}

/// What signals have asked for.
enum Interrupt {
  private static let requested = Atomic<Bool>(false)
  private static let question = Atomic<Bool>(false)

  static var isRequested: Bool { requested.load(ordering: .relaxed) }

  static let failure = Failure(.interrupted, "interrupted; the output is not complete")

  static func takeQuestion() -> Bool { question.exchange(false, ordering: .relaxed) }

  /// Has Ctrl-C, SIGTERM, or the end of the terminal end the command with a summary and without leaving what it has
  /// begun, and a second one at once. What was started to outlive its terminal goes on.
  static func install() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let former = signal(number) { _ in
        if Interrupt.requested.exchange(true, ordering: .relaxed) { _exit(130) }
      }
      if number == SIGHUP, former != nil { signal(number, SIG_IGN) }
    }
    signal(SIGUSR1) { _ in Interrupt.question.store(true, ordering: .relaxed) }
    #if canImport(Darwin)
      signal(SIGINFO) { _ in Interrupt.question.store(true, ordering: .relaxed) }
    #endif
  }
}
