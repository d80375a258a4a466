import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Span<UInt8> {
  /// Compares as LMDB does: byte by byte, and the shorter first when one is a prefix of the other.
  ///
  /// - Returns: A number below, at or above zero.
  @usableFromInline
  package func compare(_ other: borrowing Span<UInt8>) -> Int {
    let common = Swift.min(count, other.count)
    let order = unsafe self.withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs -> Int32 in
        guard common > 0, let a = mine.baseAddress, let b = theirs.baseAddress else { return 0 }
        return unsafe memcmp(a, b, common)
      }
    }
    return order != 0 ? Int(order) : count - other.count
  }

  /// Whether both hold the same bytes.
  @inlinable
  @inline(__always)
  package func elementsEqual(_ other: borrowing Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    // Most keys and names: two words, which may overlap, are compared in less than a call takes.
    if count >= 8 && count <= 16 { return hasSame(UInt64.self, as: other) }
    if count >= 4 && count < 8 { return hasSame(UInt32.self, as: other) }
    return compare(other) == 0
  }

  /// Whether the first and the last words are the same; for spans of one length that have them.
  @inlinable
  @inline(__always)
  func hasSame<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, as other: borrowing Span<UInt8>) -> Bool {
    let end = count - MemoryLayout<T>.size
    let (mine, theirs) = unsafe (bytes, other.bytes)
    let first = unsafe mine.unsafeLoadUnaligned(as: T.self) ^ theirs.unsafeLoadUnaligned(as: T.self)
    let last =
      unsafe mine.unsafeLoadUnaligned(fromByteOffset: end, as: T.self)
      ^ theirs.unsafeLoadUnaligned(fromByteOffset: end, as: T.self)
    return first | last == 0
  }
}

extension Array<UInt8> {
  /// Copies the bytes out of a span, so that they outlive its scope.
  public init(copying span: borrowing Span<UInt8>) {
    // Of all ways to make an array, the one with the fewest instructions.
    self = unsafe span.withUnsafeBufferPointer { unsafe Array($0) }
  }
}

extension MDB_val {
  /// Describes the bytes of a buffer; valid for as long as the buffer is.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  /// The bytes that LMDB answered with; the caller ties them to a transaction.
  @inline(__always)
  var bytes: UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(start: mv_data?.assumingMemoryBound(to: UInt8.self), count: mv_data == nil ? 0 : mv_size)
  }
}
