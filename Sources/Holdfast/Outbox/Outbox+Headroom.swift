import LMDB

extension Outbox {
  /// Refuses an entry while there is still room to settle those that are there: that needs pages too.
  func checkHeadroom(in transaction: borrowing WriteTransaction) throws(StoreError) {
    let limit = environment.options.mapSizeLimit
    // A twentieth, but no more than any number of settlements in one transaction could need.
    let reserve = max(1 << 20, min(limit / 20, 64 << 20))
    if try environment.hasRoom(for: reserve, in: transaction) { return }
    throw StoreError(
      .outboxFull,
      "\(environment.path) has come within \(reserve) bytes of its limit of \(limit), which are kept for what is in the "
        + "outbox already; remove something, or let the outbox drain.")
  }
}
