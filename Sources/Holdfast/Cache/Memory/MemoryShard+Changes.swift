// What changes the table. What is taken out is returned, to be released by the caller when it has no lock any more.

extension MemoryShard {
  /// Adds an entry that is not there.
  @inlinable
  mutating func insert(
    _ key: Key, _ value: Value, hash: UInt64, slot: Int32, cost: Int, times new: EntryTimes?
  ) {
    if (count &+ 1) &* 4 > marks.count &* 3 { resize(to: marks.count &* 2) }
    let mask = marks.count &- 1
    var position = Int(truncatingIfNeeded: hash & 0xFFFF_FFFF) & mask
    while marks[position] != 0 { position = (position &+ 1) & mask }
    marks[position] = Self.mark(hash)
    entries[position] = Entry(key: key, value: value, hash: UInt32(truncatingIfNeeded: hash), slot: slot, cost: cost)
    count &+= 1
    setTimes(new, at: position)
  }

  /// Puts another value into an entry, which is a use of it.
  ///
  /// - Returns: The old value.
  @inlinable
  mutating func replace(
    at position: Int, hash: UInt64, with value: Value, cost: Int, times new: EntryTimes?, isChange: Bool
  ) -> Entry {
    if isChange { change(hash) }
    var other: Value? = value
    swap(&entries[position].value, &other)
    entries[position].cost = cost
    setTimes(new, at: position)
    return Entry(key: nil, value: other, hash: 0, slot: use(position), cost: cost)
  }

  /// Replaces the value of a key whose entry costs as much and has no times, which concerns nobody else.
  ///
  /// - Returns: What was there, with the slot; `nil` if there is no such entry.
  @inlinable
  mutating func replace(_ key: Key, hash: UInt64, with value: Value, cost: Int) -> Entry? {
    guard times.isEmpty, let position = position(of: key, hash: hash), entries[position].cost == cost else {
      return nil
    }
    return replace(at: position, hash: hash, with: value, cost: cost, times: nil, isChange: true)
  }

  /// Takes an entry out.
  ///
  /// - Returns: The entry.
  @inlinable
  mutating func remove(at position: Int) -> Entry {
    let removed = entries[position]
    let mask = marks.count &- 1
    // What follows moves up as long as that does not put it before the place where it belongs.
    var hole = position
    var next = (position &+ 1) & mask
    while marks[next] != 0 {
      let home = Int(truncatingIfNeeded: entries[next].hash) & mask
      if (next &- home) & mask >= (next &- hole) & mask {
        marks[hole] = marks[next]
        entries[hole] = entries[next]
        if !times.isEmpty { times[hole] = times[next] }
        hole = next
      }
      next = (next &+ 1) & mask
    }
    marks[hole] = 0
    entries[hole] = Entry()
    count &-= 1
    return removed
  }

  /// Takes all entries out.
  ///
  /// - Returns: What was there.
  mutating func removeAll() -> [Entry] {
    let old = self
    self = MemoryShard()
    stripes = old.stripes
    for index in stripes.indices { stripes[index].version &+= 1 }
    (hits, misses) = (old.hits, old.misses)
    return old.entries
  }

  /// Gives the room back that is not needed.
  mutating func compact() {
    var size = 4
    while (count + 1) * 4 > size * 3 { size *= 2 }
    if size < marks.count { resize(to: size) }
  }

  /// Moves all entries to a table of another size.
  @usableFromInline
  mutating func resize(to size: Int) {
    let (oldMarks, oldEntries, oldTimes) = (marks, entries, times)
    marks = [UInt16](repeating: 0, count: size)
    entries = [Entry](repeating: Entry(), count: size)
    if !oldTimes.isEmpty { times = [EntryTimes](repeating: .untimed, count: size) }
    for (old, mark) in oldMarks.enumerated() where mark != 0 {
      var position = Int(truncatingIfNeeded: oldEntries[old].hash) & (size - 1)
      while marks[position] != 0 { position = (position + 1) & (size - 1) }
      marks[position] = mark
      entries[position] = oldEntries[old]
      if !oldTimes.isEmpty { times[position] = oldTimes[old] }
    }
  }

  @inlinable
  mutating func setTimes(_ new: EntryTimes?, at position: Int) {
    if times.isEmpty {
      guard new != nil else { return }
      times = [EntryTimes](repeating: .untimed, count: entries.count)
    }
    times[position] = new ?? .untimed
  }
}
