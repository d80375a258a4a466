import LMDB

extension DiskCache {
  /// How many entries one commit of a trim removes: writers of other threads get their turn between two.
  static let trimBatch = 256

  /// The number of entries, also of those that have expired and are still there. Exact; costs one read.
  ///
  /// - Throws: As ``value(forKey:)``.
  public func totalCount() throws -> Int { try totals().count }

  /// What all entries cost together. Exact; costs one read.
  ///
  /// - Throws: As ``value(forKey:)``.
  public func totalCost() throws -> Int { try totals().cost }

  /// The bytes of all values together. Exact; costs one read.
  ///
  /// - Throws: As ``value(forKey:)``.
  public func totalBytes() throws -> Int { try totals().bytes }

  /// Removes the least recently used entries until there are at most `count`.
  ///
  /// Works in batches of 256, each a commit. Readers never wait for it. Pinned entries stay.
  ///
  /// - Parameter count: Zero removes all that may leave.
  /// - Returns: How many entries were removed.
  /// - Throws: As `setValue(_:forKey:options:)`; what was removed by then stays removed.
  @discardableResult
  public func trim(toCount count: Int) throws -> Int { try trim(.count) { $0.count > count } }

  /// Removes the least recently used entries until they cost at most `cost` together.
  ///
  /// - Parameter cost: Zero removes all that may leave, except entries of cost zero.
  /// - Returns: How many entries were removed.
  /// - Throws: As `trim(toCount:)`.
  @discardableResult
  public func trim(toCost cost: Int) throws -> Int { try trim(.cost) { $0.cost > cost } }

  /// Removes what has not been used for a while.
  ///
  /// - Parameter age: How long an entry may have gone unused; zero or less removes all that may leave.
  /// - Returns: How many entries were removed.
  /// - Throws: As `trim(toCount:)`.
  @discardableResult
  public func trim(toAge age: Duration) throws -> Int {
    if age <= .zero { return try trim(toCount: 0) }
    try settleTouches()
    return try inBatches { edit, transaction, limit in
      let isLimited = edit.limits.ageLimit.map { $0 < age } ?? false
      if !isLimited { edit.limits.ageLimit = age }
      try edit.purgeExpired(limit: limit, in: &transaction)
      return edit.expired
    }
  }

  /// Removes the entries whose time is over. Nobody sees them any more in any case; this frees their room.
  ///
  /// Each write removes a few, so that this is rarely needed.
  ///
  /// - Returns: How many there were.
  /// - Throws: As `trim(toCount:)`.
  @discardableResult
  public func purgeExpired() throws -> Int {
    try inBatches { edit, transaction, limit in
      try edit.purgeExpired(limit: limit, in: &transaction)
      return edit.expired
    }
  }

  /// Applies the limits now: after they were lowered, or for the age limit, which otherwise only later writes apply.
  ///
  /// - Returns: How many entries were removed.
  /// - Throws: As `trim(toCount:)`.
  @discardableResult
  public func trim() throws -> Int {
    var removed = try purgeExpired()
    let limits = limits
    if let limit = limits.countLimit { removed += try trim(toCount: limit) }
    if let limit = limits.costLimit { removed += try trim(toCost: limit) }
    state.update { $0.mustTrim = false }
    return removed
  }

  /// Trims first, in bounded commits, if the limits may be far exceeded; what is left is done by the write itself. Also
  /// sees to it that there is a directory for a file.
  func prepareToWrite() throws {
    if try isRemoved() { try startAnew() }
    if state.update({ $0.mustTrim }) { try trim() }
  }

  /// Brings all noted reads into the order of use.
  func settleTouches() throws(StoreError) {
    do {
      while case let reads = touches.take(Self.trimBatch), !reads.isEmpty {
        try write(after: reads) { _, _ in }
      }
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.io, "The order of use of \(path) could not be written: \(error); try again.")
    }
  }

  func totals() throws -> DiskCacheTotals {
    try environment.read { transaction in try tables.totals(in: transaction) }
  }

  private func trim(_ cause: CacheEvent.Cause, while isOver: (DiskCacheTotals) -> Bool) throws -> Int {
    guard isOver(try totals()) else { return 0 }
    try settleTouches()
    return try inBatches { edit, transaction, limit in
      try edit.evict(cause, limit: limit, in: &transaction, while: isOver)
    }
  }

  private func inBatches(
    _ body: (inout DiskCacheEdit, inout WriteTransaction, _ limit: Int) throws -> Int
  ) throws -> Int {
    var removed = 0
    while true {
      let batch = try write { edit, transaction in try body(&edit, &transaction, Self.trimBatch) }
      removed += batch
      if batch < Self.trimBatch { return removed }
    }
  }
}
