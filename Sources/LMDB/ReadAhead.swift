import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Asks the processor for the records that the next steps of a cursor come to, while this one is looked at.
///
/// Neighbours lie on one page, but in the order in which they were written, so that no processor guesses where the next
/// one is; and waiting for memory is most of what a step through records costs that no cache holds. Where they are is
/// read off the index of the page, as LMDB 0.9 lays it out. That is a hint and no more: nothing outside of the page is
/// read, nothing depends on it, and a page that looks different turns it off. It is for pages of the mapped file only:
/// what lies around the pages of a write transaction belongs to others.
@safe
@usableFromInline
struct ReadAhead {
  /// What a page begins with: its number, its kind, and where its index and its free room end.
  private static var headerSize: UInt { UInt(MemoryLayout<UInt>.size) + 8 }
  private static var endOffset: Int { MemoryLayout<UInt>.size + 4 }
  /// What is in front of a key.
  private static var nodeSize: UInt { 8 }
  /// How many bytes of the index ahead, two for each record.
  private static var distance: UInt { 6 }

  private let mask = UInt(getpagesize()) - 1
  /// The page, zero for none, and where in it the place of the record is noted.
  private var page: UInt = 0
  private var entry: UInt = 0
  private var isOff: Bool

  /// - Parameter isOff: Whether the records may lie outside of the file.
  init(isOff: Bool) { self.isOff = isOff }

  /// Notes that the cursor has come to a record, and which way it goes.
  ///
  /// - Parameters:
  ///   - key: Where its key is, in the map.
  ///   - length: How many bytes it has; those that follow are taken to be alike.
  ///   - isRising: Whether it goes to higher keys.
  @inline(__always)
  mutating func note(_ key: UnsafeRawPointer, _ length: Int, isRising: Bool) {
    let node = UInt(bitPattern: key) &- Self.nodeSize
    let step: UInt = isRising ? 2 : 0 &- 2
    if let page = unsafe UnsafeRawPointer(bitPattern: page), unsafe node &- self.page == place(entry &+ step, in: page)
    {
      entry &+= step
      unsafe fetch(isRising ? entry &+ Self.distance : entry &- Self.distance, of: page, length)
    } else {
      begin(node, step, length)
    }
  }

  @inline(never)
  private mutating func begin(_ node: UInt, _ step: UInt, _ length: Int) {
    let start = node & ~mask
    page = 0
    guard !isOff, let page = unsafe UnsafeRawPointer(bitPattern: start) else { return }
    let end = UInt(unsafe page.load(fromByteOffset: Self.endOffset, as: UInt16.self))
    entry = Self.headerSize
    while entry < end, unsafe place(entry, in: page) != node &- start { entry += 2 }
    guard entry < end, end <= mask else {
      isOff = true
      return
    }
    self.page = start
    for ahead: UInt in 1...3 { unsafe fetch(entry &+ ahead &* step, of: page, length) }
  }

  /// Where the index says that a record is.
  @unsafe
  @inline(__always)
  private func place(_ entry: UInt, in page: UnsafeRawPointer) -> UInt {
    UInt(unsafe page.load(fromByteOffset: Int(bitPattern: entry & mask), as: UInt16.self))
  }

  /// Asks for a record, or for what is at hand by chance beyond the index: no address does harm.
  @unsafe
  @inline(__always)
  private func fetch(_ entry: UInt, of page: UnsafeRawPointer, _ length: Int) {
    let start = unsafe page + Int(bitPattern: place(entry, in: page))
    unsafe clmdb_prefetch(start)
    unsafe clmdb_prefetch(start + 64)
    if length <= 128 { return }
    unsafe clmdb_prefetch(start + 128)
    unsafe clmdb_prefetch(start + 192)
  }
}
