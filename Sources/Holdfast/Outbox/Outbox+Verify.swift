import LMDB

extension Outbox {
  /// What a check of the outbox has found.
  public struct VerifyReport: Sendable, Hashable {
    /// What is wrong, one sentence each, as it was found; the first hundred.
    public internal(set) var problems: [String] = []
    /// How many problems there are.
    public internal(set) var count = 0
    /// How many rows were put right.
    public internal(set) var repaired = 0

    mutating func add(_ problem: String) {
      count += 1
      if problems.count < 100 { problems.append(problem) }
    }
  }

  /// Checks every invariant of the outbox: each index row has its entry, each entry its rows, and a waiting head of a lane
  /// is among what may go out.
  ///
  /// Entries and their states are taken for the truth, and indexes are derived from them. An entry whose state is lost
  /// is held. What cannot be read is named and left alone; ``cancel(_:in:)`` removes such an entry. Reads everything and
  /// holds a snapshot meanwhile, or the write transaction if it repairs.
  ///
  /// - Parameter repair: Whether to put right what can be.
  /// - Returns: What was wrong.
  /// - Throws: `damaged` or `io` if the file cannot be read; as any write if it repairs.
  public func verify(repair: Bool = false) throws -> VerifyReport {
    guard repair else {
      return try environment.read { transaction in
        var check = OutboxCheck(self)
        try check.run(in: transaction)
        return check.report
      }
    }
    return try environment.write { transaction in
      var report = VerifyReport()
      let clock = try clock(in: transaction.reader)
      // A repaired row may show the next gap: the head of a lane is only known once the lane is whole.
      for pass in 1...4 {
        var check = OutboxCheck(self)
        try check.run(in: transaction.reader)
        if pass == 1 { report = check.report }
        if check.fixes.isEmpty { break }
        for fix in check.fixes {
          switch fix {
          case .add(let key, let value, let database): try transaction.set(value, forKey: key, in: database)
          case .remove(let key, let database): try transaction.remove(key, in: database)
          case .hold(let id): _ = try soundState(of: id, at: clock, in: &transaction)
          }
        }
        report.repaired += check.fixes.count
      }
      return report
    }
  }
}
