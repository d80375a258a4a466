import LMDB

/// A log that cannot be read at its end takes no change, so that nothing could be updated any more.
extension ChangeLog {
  /// Leaves of the log what can be read and goes on without a gap, and writes down as lost what is not there of the
  /// changes up to the last, which is none before `newest`.
  ///
  /// Of several stretches the longest stays, of equal ones the first: a row with a wrong number stands alone. Whoever
  /// waits for what is lost is told that changes were missed.
  ///
  /// - Parameters:
  ///   - newest: The highest stamp in use, and the record that has it.
  ///   - transaction: A write transaction.
  /// - Throws: `damaged` or `io` if the file cannot be read; as any change.
  func repair(newest: (stamp: UInt64, key: StateKey)?, in transaction: inout WriteTransaction) throws(StoreError) {
    let keys = try transaction.reader.keys(of: .all, in: changes, limit: .max)
    var kept: Range<UInt64> = 0..<0
    var run: Range<UInt64> = 0..<0
    for key in keys {
      guard let stamp = try soundStamp(key, in: transaction.reader) else { continue }
      run = stamp == run.upperBound && !run.isEmpty ? run.lowerBound..<stamp + 1 : stamp..<stamp + 1
      if run.count > kept.count { kept = run }
    }
    let last = max(kept.last ?? 0, newest?.stamp ?? 0)
    let expected = last - min(last, Self.limit) + 1..<last + 1
    kept = kept.clamped(to: expected)
    for key in keys {
      if let stamp = try soundStamp(key, in: transaction.reader), kept.contains(stamp) { continue }
      try transaction.remove(key, in: changes)
    }
    for stamp in expected where !kept.contains(stamp) {
      let change: StateChange =
        if let newest, newest.stamp == stamp { .record(newest.key, fields: nil, stamp: stamp) } else {
          .lagged(missed: 1)
        }
      try transaction.set(change.encoded, forKey: ShortBytes(bigEndian: stamp), in: changes)
    }
  }

  /// The number of a row that can be read.
  private func soundStamp(
    _ key: [UInt8], in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> UInt64? {
    let bytes = key.span
    guard key.count == 8, let value = try transaction.value(forKey: bytes, in: changes) else { return nil }
    do throws(Malformed) {
      let stamp = try bytes.loadBigEndian(UInt64.self, at: 0)
      _ = try StateChange(decoding: value, stamp: stamp)
      return stamp > 0 && stamp <= Self.highestStamp ? stamp : nil
    } catch {
      return nil
    }
  }
}
