import LMDB

/// What all stores of one path in this process share: who waits, and who listens.
final class Board: Sendable {
  private struct Entry: Sendable {
    weak let board: Board?
  }

  private static let all = Monitor<[String: Entry]>([:])

  /// Wakes the drain of this process.
  let wakeUp = WakeUp()
  /// Tells this process what happens.
  let hub = EventHub()
  /// Whether the folder of the attachments is there for good.
  let hasFolder = Monitor(false)

  private init() {}

  static func shared(forPath path: String) -> Board {
    all.update { all in
      if let board = all[path]?.board { return board }
      all = all.filter { $0.value.board != nil }
      let board = Board()
      all[path] = Entry(board: board)
      return board
    }
  }
}
