import LMDB

extension DiskCache {
  /// Walks everything and checks that it hangs together: the file's pages, every value's bytes, the totals, and that each
  /// entry has exactly the rows that it should.
  ///
  /// Reads all of it, also the files of large values; blocks for that long and holds a snapshot meanwhile.
  ///
  /// - Throws: `damaged`, naming what is wrong; otherwise as ``value(forKey:)``.
  public func verify() throws(StoreError) {
    try environment.verify()
    do {
      try environment.read { transaction in
        var rows = Rows()
        var sum = DiskCacheTotals()
        var tails = 0
        var cursor = try transaction.cursor(in: tables.entries)
        while try cursor.next() {
          if DiskCacheKey.isTail(cursor.key) {
            tails += 1
            continue
          }
          let key = [UInt8](copying: cursor.key)
          guard let record = DiskCacheRecord(cursor.value) else {
            throw flaw("the record of \(name(key)) cannot be read")
          }
          sum.add(record)
          if record.flags == .split { tails -= 1 }
          try check(record, cursor.value, key, in: transaction)
          try rows.expect(record, cursor.value, lastUse: tables.lastUse(of: record, in: transaction))
        }
        if tails != 0 { throw flaw("\(tails) tails belong to no entry") }
        let totals = try tables.totals(in: transaction)
        sum.last = totals.last
        if sum != totals { throw flaw("its totals are \(totals), but its entries make \(sum)") }
        try rows.compare(tables, in: transaction)
      }
    } catch let error as StoreError {
      throw error
    } catch let error as Malformed {
      throw flaw(error.reason)
    } catch {
      throw flaw("\(error)")
    }
  }

  private func check(
    _ record: DiskCacheRecord, _ bytes: Span<UInt8>, _ key: [UInt8], in transaction: borrowing ReadTransaction
  ) throws {
    let tailKey = key + [0]
    let isIntact: Bool
    if let tail = try transaction.value(forKey: tailKey.span, in: tables.entries) {
      isIntact = record.isIntact(bytes, tail: tail, under: key.span)
    } else {
      isIntact = record.isIntact(bytes, tail: Span(), under: key.span)
    }
    if !isIntact { throw flaw("the bytes of \(name(key)) are not those that were written") }
    if record.flags == .file {
      let file = DiskCacheFileName(record, in: bytes)
      guard try folder.read(file.name, length: record.length, checksum: file.checksum) != nil else {
        throw flaw("the file of \(name(key)) is not the one that was written")
      }
    }
  }

  /// A key of the tree for a sentence.
  private func name(_ key: [UInt8]) -> String { "\"\(DiskCacheKey(stored: key, full: []).text)\"" }

  private func flaw(_ what: String) -> StoreError {
    StoreError(.damaged, "The cache at \(path) is damaged: \(what); remove everything, or the directory.")
  }

  /// The rows that the entries should have in each of the other databases.
  private struct Rows {
    var order = 0
    var touches = 0
    var expiry = 0
    var tags = 0
    var files = 0

    mutating func expect(_ record: DiskCacheRecord, _ bytes: Span<UInt8>, lastUse: UInt64) throws(Malformed) {
      order += 1
      if lastUse != record.stamp { touches += 1 }
      if record.expiresAt != 0 { expiry += 1 }
      tags += Set(try DiskCacheExtra(record, in: bytes).tags).count
      if record.flags == .file { files += 1 }
    }

    func compare(_ tables: DiskCacheTables, in transaction: borrowing ReadTransaction) throws {
      let pairs = [
        (tables.order, order), (tables.touches, touches), (tables.expiry, expiry), (tables.tags, tags),
        (tables.files, files),
      ]
      for (database, expected) in pairs {
        let count = try transaction.count(of: database)
        if count != expected {
          throw Malformed("\(database.name) has \(count) rows where the entries need \(expected)")
        }
      }
    }
  }
}
