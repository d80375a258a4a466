/// Up to 64 bytes in place: a key or a small value that is put together without allocating.
///
/// For rows whose size is known beforehand: more than fits is a fault of the program, and traps.
@safe
package struct ShortBytes: Sendable, Hashable {
  private typealias Words = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  private static var capacity: Int { 64 }

  private var words: Words = (0, 0, 0, 0, 0, 0, 0, 0)
  /// How many bytes there are.
  package private(set) var count = 0

  package init() {}

  /// A number as eight bytes that sort as numbers do.
  package init(bigEndian number: UInt64) { append(bigEndian: number) }

  /// Appends a number, its lowest byte first.
  package mutating func append(_ number: UInt8) { store(number) }

  /// Appends a number, its lowest byte first.
  package mutating func append(_ number: UInt16) { store(number) }

  /// Appends a number, its lowest byte first.
  package mutating func append(_ number: UInt32) { store(number) }

  /// Appends a number, its lowest byte first.
  package mutating func append(_ number: UInt64) { store(number) }

  /// Appends a number, its lowest byte first.
  package mutating func append(_ number: Int64) { store(UInt64(bitPattern: number)) }

  // Generic only in here: across modules it would not be specialised.
  @inline(__always)
  private mutating func store<T: FixedWidthInteger & BitwiseCopyable>(_ number: T) {
    let start = count
    precondition(start + MemoryLayout<T>.size <= Self.capacity)
    unsafe withUnsafeMutableBytes(of: &words) {
      unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: start, as: T.self)
    }
    count = start + MemoryLayout<T>.size
  }

  /// Appends a number as eight bytes that sort as numbers do.
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
    count = start + bytes.count
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

  // What is not used is zero.
  package static func == (a: ShortBytes, b: ShortBytes) -> Bool {
    a.count == b.count && a.words.0 == b.words.0 && a.words.1 == b.words.1 && a.words.2 == b.words.2
      && a.words.3 == b.words.3 && a.words.4 == b.words.4 && a.words.5 == b.words.5 && a.words.6 == b.words.6
      && a.words.7 == b.words.7
  }

  package func hash(into hasher: inout Hasher) {
    unsafe withUnsafeBytes { unsafe hasher.combine(bytes: UnsafeRawBufferPointer(start: $0, count: $1)) }
  }

  @unsafe
  @inline(__always)
  func withUnsafeBytes<R>(_ body: (UnsafeRawPointer, Int) -> R) -> R {
    unsafe Swift.withUnsafeBytes(of: words) { unsafe body($0.baseAddress.unsafelyUnwrapped, count) }
  }
}
