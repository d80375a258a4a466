/// Up to 64 bytes in place: a key or a small value that is put together without allocating.
///
/// For rows whose size is known beforehand: more than fits is a fault of the program, and traps.
@safe
@usableFromInline
package struct ShortBytes: Sendable, Hashable {
  @usableFromInline
  typealias Words = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  @inlinable static var capacity: Int { 64 }

  @usableFromInline var words: Words = (0, 0, 0, 0, 0, 0, 0, 0)
  @usableFromInline var length = 0

  /// How many bytes there are.
  @inlinable
  package var count: Int { length }

  @inlinable
  package init() {}

  /// A number as eight bytes that sort as numbers do.
  @inlinable
  package init(bigEndian number: UInt64) {
    words.0 = number.bigEndian
    length = 8
  }

  /// Appends a number, its lowest byte first. Compiled into its caller, where a row of numbers is a row of stores.
  @inlinable
  @inline(__always)
  package mutating func append<T: FixedWidthInteger & BitwiseCopyable>(_ number: T) {
    let start = count
    precondition(start + MemoryLayout<T>.size <= Self.capacity)
    unsafe withUnsafeMutableBytes(of: &words) {
      unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: start, as: T.self)
    }
    length = start + MemoryLayout<T>.size
  }

  /// Appends a number as eight bytes that sort as numbers do.
  @inlinable
  package mutating func append(bigEndian number: UInt64) { append(number.byteSwapped) }

  /// Appends what is in another one.
  package mutating func append(_ other: ShortBytes) {
    unsafe other.withUnsafeBytes { unsafe append(UnsafeRawBufferPointer(start: $0, count: $1)) }
  }

  /// Appends bytes.
  package mutating func append(_ bytes: borrowing Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe append($0) }
  }

  @unsafe
  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    let start = count
    precondition(start + bytes.count <= Self.capacity)
    unsafe withUnsafeMutableBytes(of: &words) {
      unsafe UnsafeMutableRawBufferPointer(rebasing: $0[start...]).copyMemory(from: bytes)
    }
    length = start + bytes.count
  }

  /// The bytes, copied.
  package var array: [UInt8] {
    unsafe withUnsafeBytes { unsafe Array(UnsafeRawBufferPointer(start: $0, count: $1)) }
  }

  /// Whether a span holds these bytes.
  package func equals(_ span: borrowing Span<UInt8>) -> Bool { span.count == count && isPrefix(of: span) }

  /// Whether a span begins with these bytes.
  package func isPrefix(of span: borrowing Span<UInt8>) -> Bool {
    unsafe withUnsafeBytes { start, count in
      unsafe span.extracting(first: count).elementsEqual(
        Span(_unsafeStart: start.assumingMemoryBound(to: UInt8.self), count: count))
    }
  }

  /// Whether a span begins with the first `length` of these bytes.
  package func startsAlike(_ span: borrowing Span<UInt8>, _ length: Int) -> Bool {
    guard length <= count, length <= span.count else { return false }
    return unsafe withUnsafeBytes { start, _ in
      unsafe span.extracting(first: length).elementsEqual(
        Span(_unsafeStart: start.assumingMemoryBound(to: UInt8.self), count: length))
    }
  }

  // What is not used is zero.
  @usableFromInline
  package static func == (a: ShortBytes, b: ShortBytes) -> Bool {
    a.count == b.count && a.words.0 == b.words.0 && a.words.1 == b.words.1 && a.words.2 == b.words.2
      && a.words.3 == b.words.3 && a.words.4 == b.words.4 && a.words.5 == b.words.5 && a.words.6 == b.words.6
      && a.words.7 == b.words.7
  }

  @usableFromInline
  package func hash(into hasher: inout Hasher) {
    unsafe withUnsafeBytes { unsafe hasher.combine(bytes: UnsafeRawBufferPointer(start: $0, count: $1)) }
  }

  @unsafe
  @inlinable
  @inline(__always)
  func withUnsafeBytes<R>(_ body: (UnsafeRawPointer, Int) -> R) -> R {
    unsafe Swift.withUnsafeBytes(of: words) { unsafe body($0.baseAddress.unsafelyUnwrapped, count) }
  }
}
