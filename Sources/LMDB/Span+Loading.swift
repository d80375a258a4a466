extension Span<UInt8> {
  /// A little-endian number at any offset; `nil` if it does not lie inside.
  @inlinable
  package func littleEndian<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int) -> T? {
    guard offset >= 0, offset <= count - MemoryLayout<T>.size else { return nil }
    let bytes = unsafe bytes
    return unsafe T(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: T.self))
  }
}

extension Array<UInt8> {
  /// Appends a number, least significant byte first.
  @inlinable
  package mutating func append<T: FixedWidthInteger & BitwiseCopyable>(littleEndian value: T) {
    unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe append(contentsOf: $0) }
  }

  /// Puts a number in place of what is at an offset, least significant byte first; it must fit there.
  @inlinable
  package mutating func store<T: FixedWidthInteger & BitwiseCopyable>(littleEndian value: T, at offset: Int) {
    precondition(offset >= 0 && offset <= count - MemoryLayout<T>.size, "A number lies inside of the bytes.")
    unsafe withUnsafeMutableBytes { unsafe $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self) }
  }
}

extension String {
  /// Runs `body` with the UTF-8 bytes, without a copy if the string is a native one.
  @inlinable
  package func withBytes<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    var text = self
    let result = text.withUTF8 { bytes -> Result<R, E> in
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
