/// Bytes in the mapped file as LMDB answers with them: an `MDB_val`, word for word, for what is compiled into other
/// modules, which do not see C.
@unsafe
@usableFromInline
struct StoredBytes {
  @usableFromInline var count = 0
  @usableFromInline var start: UnsafePointer<UInt8>?

  @inlinable
  init(count: Int = 0, start: UnsafePointer<UInt8>? = nil) {
    unsafe self.count = count
    unsafe self.start = unsafe start
  }

  /// The bytes, none without an address; the caller ties them to a transaction.
  @inlinable var span: Span<UInt8> {
    @_lifetime(immortal)
    get {
      let bytes = unsafe UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)
      let span = unsafe Span(_unsafeElements: bytes)
      return unsafe _overrideLifetime(span, copying: ())
    }
  }
}
