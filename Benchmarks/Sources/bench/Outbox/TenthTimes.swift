import Harness
import Holdfast
import Synchronization

/// A sender for whom everything has arrived at once, and who notes how long each tenth took.
final class TenthTimes: OutboxSender {
  private let marks: Mutex<[UInt64]>
  private let sent = Atomic<Int>(0)
  private let tenth: Int

  init(count: Int) {
    tenth = count / 10
    marks = Mutex([Clock.wall.now])
  }

  func send(_ entry: OutboxEntry) async throws -> SendOutcome {
    let number = sent.add(1, ordering: .relaxed).newValue
    if number % tenth == 0 { marks.withLock { $0.append(Clock.wall.now) } }
    return .delivered(reply: [])
  }

  /// Nanoseconds for each tenth.
  var tenths: [Double] {
    let marks = marks.withLock { $0 }
    return zip(marks, marks.dropFirst()).map { Double($1 - $0) }
  }
}
