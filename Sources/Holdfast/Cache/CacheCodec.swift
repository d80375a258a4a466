#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Names the form in which a value is stored; an entry of another form counts as missing.
public struct CacheCodecID: Sendable, Hashable {
  /// Which codec.
  public let id: UInt32
  /// Which version of it.
  public let version: UInt8

  /// Plain bytes.
  public static let bytes = CacheCodecID(0)

  /// Names a codec of your own.
  ///
  /// - Parameters:
  ///   - id: Any number from 1,000 on; those below are the library's.
  ///   - version: Another one for each form that earlier versions cannot read.
  public init(_ id: UInt32, version: UInt8 = 0) {
    self.id = id
    self.version = version
  }
}

/// Turns values into bytes and back.
///
/// Both directions run outside every lock and transaction, and may use the cache. A codec that wraps another one, to
/// compress or to encrypt, takes an ``id`` of its own.
public protocol CacheCodec<Value>: Sendable {
  /// What it stores.
  associatedtype Value
  /// The name of its form, stored with each entry.
  var id: CacheCodecID { get }
  /// The bytes of a value.
  ///
  /// - Throws: Whatever stands in the way; then nothing is changed.
  func encode(_ value: Value) throws -> [UInt8]
  /// The value of some bytes.
  ///
  /// - Throws: Whatever is wrong with them; then the entry counts as missing.
  func decode(_ bytes: [UInt8]) throws -> Value
  /// The value of bytes that another codec has stored, or another version of this one; `nil` if it cannot be told.
  ///
  /// What it returns counts as found; the entry stays in its old form until it is stored anew. By default, and for what
  /// it throws, the entry counts as missing, and stays for those who can read it.
  ///
  /// - Parameters:
  ///   - bytes: What was stored.
  ///   - id: By whom.
  /// - Returns: The value; `nil` if it cannot be told.
  /// - Throws: Whatever is wrong with them.
  func migrate(_ bytes: [UInt8], from id: CacheCodecID) throws -> Value?
}

extension CacheCodec {
  /// Nothing of others is known.
  ///
  /// - Returns: `nil`.
  public func migrate(_ bytes: [UInt8], from id: CacheCodecID) -> Value? { nil }

  /// The value of some bytes, whoever has stored them; `nil` if it counts as missing.
  ///
  /// - Throws: What is wrong with bytes of its own.
  func value(of bytes: [UInt8], storedAs id: CacheCodecID) throws -> Value? {
    id == self.id ? try decode(bytes) : (try? migrate(bytes, from: id)) ?? nil
  }
}

/// Bytes as they are.
public struct BytesCodec: CacheCodec {
  /// The form of plain bytes.
  public let id = CacheCodecID.bytes

  /// Makes the codec.
  public init() {}

  /// The bytes themselves.
  public func encode(_ value: [UInt8]) -> [UInt8] { value }

  /// The bytes themselves.
  public func decode(_ bytes: [UInt8]) -> [UInt8] { bytes }
}

/// Text as UTF-8.
public struct StringCodec: CacheCodec {
  /// The form of text.
  public let id = CacheCodecID(1)

  /// Makes the codec.
  public init() {}

  /// The UTF-8 bytes.
  public func encode(_ value: String) -> [UInt8] { Array(value.utf8) }

  /// The text.
  ///
  /// - Throws: `StoreError` with `corruptRecord` if the bytes are not UTF-8.
  public func decode(_ bytes: [UInt8]) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw StoreError(.corruptRecord, "A cached text of \(bytes.count) bytes is not UTF-8; make it anew.")
    }
    return text
  }
}

/// A whole number, as eight bytes; what `increment(forKey:by:options:)` adds to.
public struct IntegerCodec: CacheCodec {
  /// The form of numbers.
  public let id = CacheCodecID(3)

  /// Makes the codec.
  public init() {}

  /// The eight bytes, least significant first.
  public func encode(_ value: Int64) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(value)
    return writer.bytes
  }

  /// The number.
  ///
  /// - Throws: `StoreError` with `corruptRecord` if there are not eight bytes.
  public func decode(_ bytes: [UInt8]) throws -> Int64 {
    guard bytes.count == 8, let number = bytes.span.littleEndian(Int64.self, at: 0) else {
      throw StoreError(.corruptRecord, "A cached number has \(bytes.count) bytes instead of 8; set it anew.")
    }
    return number
  }
}

/// Foundation's `Data`, stored as plain bytes: what ``BytesCodec`` stores, it reads, and the other way round.
public struct DataCodec: CacheCodec {
  /// The form of plain bytes.
  public let id = CacheCodecID.bytes

  /// Makes the codec.
  public init() {}

  /// The bytes.
  public func encode(_ value: Data) -> [UInt8] { Array(value) }

  /// The data.
  public func decode(_ bytes: [UInt8]) -> Data { Data(bytes) }
}

/// Values that are `Codable`, as JSON.
public struct JSONCodec<Value: Codable & Sendable>: CacheCodec {
  /// The form of JSON, in the version that was given.
  public let id: CacheCodecID

  /// Makes the codec.
  ///
  /// - Parameter version: Change it with the type, so that what its older self stored counts as missing instead of being
  ///   decoded into something else.
  public init(version: UInt8 = 0) { id = CacheCodecID(2, version: version) }

  /// The JSON of a value.
  ///
  /// - Throws: `EncodingError`.
  public func encode(_ value: Value) throws -> [UInt8] { Array(try JSONEncoder().encode(value)) }

  /// The value of some JSON.
  ///
  /// - Throws: `DecodingError`.
  public func decode(_ bytes: [UInt8]) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(bytes))
  }
}
