/// Keys of equal length, one after the other: made before the clock runs, read without a copy.
public struct KeyBlock: Sendable {
  /// The bytes of all keys.
  public private(set) var bytes: [UInt8]
  /// The length of a key.
  public let width: Int
  /// How many there are.
  public var count: Int { bytes.count / width }

  /// db_bench's keys: numbers of sixteen digits.
  ///
  /// - Parameter numbers: The numbers, in any order.
  public init(_ numbers: some Sequence<Int>) {
    width = 16
    bytes = []
    for number in numbers { bytes += Self.digits(number) }
  }

  /// Keys of any text.
  ///
  /// - Parameter texts: Texts of one length in bytes, at least one of them.
  public init(texts: [String]) {
    width = texts.first?.utf8.count ?? 1
    bytes = texts.flatMap(\.utf8)
  }

  /// Keys that exist already.
  ///
  /// - Parameters:
  ///   - bytes: One after the other.
  ///   - width: The length of each.
  public init(bytes: [UInt8], width: Int) {
    self.bytes = bytes
    self.width = width
  }

  /// The keys at some places.
  ///
  /// - Parameter indices: Which, in which order.
  /// - Returns: The keys.
  public func picking(_ indices: some Sequence<Int>) -> KeyBlock {
    var result = self
    result.bytes = []
    for index in indices { result.bytes += bytes[(index * width)..<((index + 1) * width)] }
    return result
  }

  /// The key at a place.
  @inlinable
  public subscript(_ index: Int) -> Span<UInt8> {
    @_lifetime(borrow self)
    get { bytes.span.extracting(index * width..<(index + 1) * width) }
  }

  private static func digits(_ number: Int) -> [UInt8] {
    var digits = [UInt8](repeating: UInt8(ascii: "0"), count: 16)
    var rest = number
    var place = 15
    while rest > 0 {
      digits[place] += UInt8(rest % 10)
      rest /= 10
      place -= 1
    }
    return digits
  }
}
