import CLMDB

extension Environment {
  /// Whether the file may still take some bytes before it reaches its limit, beside what a transaction has stored.
  ///
  /// Costs nothing until the file comes near to its limit; then also a walk over the list of free pages.
  package func hasRoom(for bytes: Int, in transaction: borrowing WriteTransaction) throws(StoreError) -> Bool {
    let left = AddressSpace.rounded(options.mapSizeLimit) - mapUse().used - transaction.changedBytes
    if left >= bytes { return true }
    // LMDB shows the list only to readers.
    let freePages = unsafe try withSnapshot { (snapshot) throws(StoreError) -> Int in
      unsafe try self.freePages(in: snapshot)
    }
    return left + freePages * handle.pageSize >= bytes
  }
}
