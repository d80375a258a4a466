/// A set of page numbers, in memory that grows with what is in it and not with the file.
package struct PageSet: Sendable {
  private static let chunkBits = 1 << 15
  private var chunks: [Int: [UInt64]] = [:]
  /// The chunk last used, so that pages in a row cost no look-up.
  private var currentIndex = -1
  private var current: [UInt64] = []
  package private(set) var count = 0

  package init() {}

  /// Adds a page.
  ///
  /// - Returns: Whether it was not there.
  package mutating func insert(_ page: Int) -> Bool {
    if page / Self.chunkBits != currentIndex { change(to: page / Self.chunkBits) }
    let bit = page % Self.chunkBits
    let mask = UInt64(1) << UInt64(bit % 64)
    if current[bit / 64] & mask != 0 { return false }
    current[bit / 64] |= mask
    count += 1
    return true
  }

  /// Adds all pages of another set.
  package mutating func formUnion(_ other: PageSet) {
    for (index, chunk) in other.allChunks {
      for (word, bits) in chunk.enumerated() {
        var bits = bits
        while bits != 0 {
          _ = insert(index * Self.chunkBits + word * 64 + bits.trailingZeroBitCount)
          bits &= bits - 1
        }
      }
    }
  }

  private var allChunks: [Int: [UInt64]] {
    var all = chunks
    if currentIndex >= 0 { all[currentIndex] = current }
    return all
  }

  package func contains(_ page: Int) -> Bool {
    let index = page / Self.chunkBits
    let bit = page % Self.chunkBits
    guard let chunk = index == currentIndex ? current : chunks[index] else { return false }
    return chunk[bit / 64] & UInt64(1) << UInt64(bit % 64) != 0
  }

  private mutating func change(to index: Int) {
    if currentIndex >= 0 { chunks[currentIndex] = current }
    current = chunks.removeValue(forKey: index) ?? [UInt64](repeating: 0, count: Self.chunkBits / 64)
    currentIndex = index
  }
}
