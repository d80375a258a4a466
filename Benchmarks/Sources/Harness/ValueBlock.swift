/// Random bytes to be stored: nothing compresses them.
public struct ValueBlock: Sendable {
  /// The bytes of all values.
  public let bytes: [UInt8]
  /// The length of a value.
  public let width: Int
  /// How many there are.
  public var count: Int { bytes.count / width }

  /// Makes values.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - width: The length of each.
  ///   - seed: The same seed gives the same bytes.
  public init(_ count: Int, width: Int, seed: UInt64 = 1) {
    var random = Random(seed: seed)
    let words = (count * width + 7) / 8
    bytes = unsafe [UInt8](unsafeUninitializedCapacity: words * 8) { buffer, initialized in
      for word in 0..<words {
        let bits = random.next()
        for byte in 0..<8 {
          unsafe buffer[word * 8 + byte] = UInt8(truncatingIfNeeded: bits >> UInt64(byte * 8))
        }
      }
      initialized = count * width
    }
    self.width = width
  }

  /// Values that exist already.
  ///
  /// - Parameters:
  ///   - bytes: One after the other.
  ///   - width: The length of each.
  public init(bytes: [UInt8], width: Int) {
    self.bytes = bytes
    self.width = width
  }

  /// The values at some places.
  ///
  /// - Parameter indices: Which, in which order.
  /// - Returns: The values.
  public func picking(_ indices: some Sequence<Int>) -> ValueBlock {
    var bytes: [UInt8] = []
    for index in indices { bytes += self.bytes[(index * width)..<((index + 1) * width)] }
    return ValueBlock(bytes: bytes, width: width)
  }

  /// The value at a place.
  @inlinable
  public subscript(_ index: Int) -> Span<UInt8> {
    @_lifetime(borrow self)
    get { bytes.span.extracting(index * width..<(index + 1) * width) }
  }
}

extension Span<UInt8> {
  /// A number made of the first and the last eight bytes: what all contenders read of a value.
  @inlinable
  public var touched: UInt64 {
    let bytes = unsafe self.bytes
    let length = bytes.byteCount
    if length < 8 { return indices.reduce(0) { $0 | UInt64(self[$1]) << UInt64(8 * $1) } }
    let first = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)
    let last = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: length - 8, as: UInt64.self)
    return first &+ last
  }
}
