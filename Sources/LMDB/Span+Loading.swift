extension Span<UInt8> {
  /// A little-endian number at any offset; `nil` if it does not lie inside.
  @inlinable
  @inline(__always)
  package func littleEndian<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int) -> T? {
    guard offset >= 0, offset <= count - MemoryLayout<T>.size else { return nil }
    let bytes = unsafe bytes
    return unsafe T(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: T.self))
  }
}

extension Array<UInt8> {
  /// Appends a number, its lowest byte first.
  @inlinable
  package mutating func append<T: FixedWidthInteger & BitwiseCopyable>(littleEndian number: T) {
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
  }

  /// Puts a number in place of what is at an offset, its lowest byte first; it must fit there.
  @inlinable
  package mutating func store<T: FixedWidthInteger & BitwiseCopyable>(littleEndian number: T, at offset: Int) {
    precondition(offset >= 0 && offset <= count - MemoryLayout<T>.size, "A number lies inside of the bytes.")
    unsafe withUnsafeMutableBytes { unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: T.self) }
  }

  /// Appends the UTF-8 bytes of a text.
  package mutating func append(utf8 text: String) {
    var text = text
    text.withUTF8 { unsafe append(contentsOf: UnsafeRawBufferPointer($0)) }
  }

  /// Appends what is in place elsewhere.
  package mutating func append(_ bytes: ShortBytes) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: UnsafeRawBufferPointer(start: $0, count: $1)) }
  }
}

extension String {
  /// The text that the bytes are, with a replacement for what is not UTF-8.
  package init(repairing bytes: borrowing Span<UInt8>) {
    self = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// The text that the bytes are; `nil` if they are not UTF-8.
  package init?(validating bytes: borrowing Span<UInt8>) {
    // Faster than the standard library's own check, which goes by scalars.
    self.init(repairing: bytes)
    let isUnchanged = unsafe bytes.withUnsafeBytes { bytes in
      withBytes { unsafe $0.elementsEqual(Span(_unsafeElements: bytes.bindMemory(to: UInt8.self))) }
    }
    if !isUnchanged { return nil }
  }

  /// Runs `body` with the UTF-8 bytes; for a native string without a copy, which `withUTF8` alone would make, to count
  /// one more reference.
  @inlinable
  func withStoredUTF8<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    if let result = unsafe utf8.withContiguousStorageIfAvailable(body) { return result }
    var text = self
    return text.withUTF8(body)
  }

  /// Runs `body` with the UTF-8 bytes, without a copy if the string is a native one.
  @inlinable
  package func withBytes<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    let result = unsafe withStoredUTF8 { bytes -> Result<R, E> in
      do throws(E) {
        return .success(try body(unsafe Span(_unsafeElements: bytes)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Whether both have the same UTF-8 bytes; `==` also takes two spellings of one character for equal.
  package func hasSameBytes(as other: String) -> Bool {
    withBytes { mine in other.withBytes { theirs in mine.elementsEqual(theirs) } }
  }
}
