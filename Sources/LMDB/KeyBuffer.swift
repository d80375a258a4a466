/// A key that is put together on the stack, for the length of a closure.
///
/// ```swift
/// try withKeyBuffer { key in
///   key.append("user")
///   key.append(UInt8(ascii: ":"))
///   key.append("42")
///   return try transaction.value(forKey: key.bytes, in: users)?.count
/// }
/// ```
///
/// Allocates nothing, and is compiled into its caller. A key that grows too long is noticed by whoever takes it.
@safe
public struct KeyBuffer: ~Copyable, ~Escapable {
  /// One more than a key may have, so that a key that is too long stays so.
  @inlinable static var capacity: Int { 512 }

  @usableFromInline let start: UnsafeMutablePointer<UInt8>
  @usableFromInline var length = 0
  /// How many bytes have been appended, at most one more than ``Environment/maximumKeyLength``.
  @inlinable public var count: Int { length }

  @inlinable
  @_lifetime(immortal)
  init(_ start: UnsafeMutablePointer<UInt8>) { unsafe self.start = unsafe start }

  /// What has been appended so far; valid until the next change.
  public var bytes: Span<UInt8> {
    @inlinable
    @_lifetime(borrow self)
    borrowing get {
      let span = unsafe Span(_unsafeStart: UnsafePointer(start), count: count)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Appends one byte.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func append(_ byte: UInt8) {
    guard count < Self.capacity else { return }
    unsafe start[length] = byte
    length += 1
  }

  /// Appends the UTF-8 bytes of a text.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func append(_ text: String) {
    let end = unsafe start + count
    let room = Self.capacity - count
    unsafe length += text.withStoredUTF8 { unsafe Self.copy(UnsafeRawBufferPointer($0), to: end, atMost: room) }
  }

  /// Appends bytes.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func append(_ bytes: borrowing Span<UInt8>) {
    let end = unsafe start + count
    let room = Self.capacity - count
    length += unsafe bytes.withUnsafeBytes { unsafe Self.copy($0, to: end, atMost: room) }
  }

  /// Appends a number as eight bytes that sort as numbers do.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func append(bigEndian number: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
  }

  /// Makes it empty.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func removeAll() { length = 0 }

  @inlinable
  @unsafe
  static func copy(
    _ bytes: UnsafeRawBufferPointer, to end: UnsafeMutablePointer<UInt8>, atMost room: Int
  ) -> Int {
    let length = min(bytes.count, room)
    if length > 0, let source = bytes.baseAddress {
      unsafe UnsafeMutableRawPointer(end).copyMemory(from: source, byteCount: length)
    }
    return length
  }
}

/// Runs `body` with room for a key on the stack.
///
/// - Parameter body: Puts the key together and uses it.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws.
@inlinable
public func withKeyBuffer<R>(_ body: (inout KeyBuffer) throws -> R) rethrows -> R {
  unsafe try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: KeyBuffer.capacity) { memory in
    var key = unsafe KeyBuffer(memory.baseAddress.unsafelyUnwrapped)
    return try body(&key)
  }
}
