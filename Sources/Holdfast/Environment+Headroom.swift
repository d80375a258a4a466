import LMDB

extension Environment {
  /// Refuses to store more while there is still room to remove something, and to settle what is in the outbox: that
  /// needs pages too. What settles, with its hooks, may have that room.
  ///
  /// - Parameters:
  ///   - transaction: The write.
  ///   - code: What to throw.
  /// - Throws: The code, if there is no more room than that.
  func checkHeadroom(in transaction: borrowing WriteTransaction, or code: StoreError.Code) throws(StoreError) {
    if transaction.mayUseReserve { return }
    let limit = options.mapSizeLimit
    // A twentieth, but no more than any number of settlements in one transaction could need.
    let reserve = max(1 << 20, min(limit / 20, 64 << 20))
    if try hasRoom(for: reserve, in: transaction) { return }
    throw StoreError(
      code,
      "\(path) has come within \(reserve) bytes of its limit of \(limit), which are kept for removing, and for what is in "
        + "the outbox already; remove something, or let the outbox drain.")
  }
}
