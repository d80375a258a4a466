import LMDB

/// What is stored before the value of an entry. See `DataLayout` for the bytes.
struct DiskCacheRecord: Sendable, Hashable {
  static let format: UInt8 = 1
  static let headerLength = 72
  static let checksumOffset = 40

  struct Flags: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    /// The end of the value is in a row of its own.
    static let split = Flags(rawValue: 1)
    /// The value is in a file; the record has its name and the checksum of what is in it.
    static let file = Flags(rawValue: 2)
  }

  var flags: Flags = []
  var priority: CachePriority = .normal
  var codec = CacheCodecID.bytes
  /// Which write this is; unique in the store, and rising. In µs since 1970, unless the clock was set back.
  var version: UInt64 = 0
  /// The entry's place in the order of use when it was written; it may have moved since.
  var stamp: UInt64 = 0
  /// In ms since 1970; zero for never.
  var expiresAt: Int64 = 0
  /// Until when loaders take it for fresh, in ms since 1970; zero for as long as it is there.
  var freshUntil: Int64 = 0
  var cost: Int64 = 0
  var checksum: UInt64 = 0
  /// The length of the value.
  var length = 0
  /// How long it took to make the value, in ms.
  var loadTime: UInt32 = 0
  /// The length of what lies between header and value.
  var extraLength = 0

  /// Where the value, or what is stored of it here, starts.
  var valueOffset: Int { Self.headerLength + extraLength }

  /// Reads the header; `nil` if it cannot be one.
  @inline(__always)
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= Self.headerLength, bytes[0] == Self.format, let priority = CachePriority(rawValue: bytes[2])
    else { return nil }
    flags = Flags(rawValue: bytes[1])
    self.priority = priority
    codec = CacheCodecID(bytes.littleEndian(UInt32.self, at: 4) ?? 0, version: bytes[3])
    version = bytes.littleEndian(UInt64.self, at: 8) ?? 0
    stamp = bytes.littleEndian(UInt64.self, at: 16) ?? 0
    expiresAt = bytes.littleEndian(Int64.self, at: 24) ?? 0
    cost = bytes.littleEndian(Int64.self, at: 32) ?? 0
    checksum = bytes.littleEndian(UInt64.self, at: Self.checksumOffset) ?? 0
    loadTime = bytes.littleEndian(UInt32.self, at: 56) ?? 0
    extraLength = Int(bytes.littleEndian(UInt32.self, at: 60) ?? 0)
    freshUntil = bytes.littleEndian(Int64.self, at: 64) ?? 0
    guard let length = Int(exactly: bytes.littleEndian(UInt64.self, at: 48) ?? 0), cost >= 0 else { return nil }
    self.length = length
    let stored = bytes.count - valueOffset
    let isWhole =
      switch flags {
      case []: stored == length
      case .split: stored >= 0 && stored < length
      case .file: stored == 16
      default: false
      }
    // Zero is the version of nothing, in the tables of what is known as well.
    guard isWhole, version != 0 else { return nil }
  }

  init() {}

  /// How the bytes of a record say that the end of its value is in a row of its own.
  static var splitMark: SplitMark { SplitMark(Flags.split.rawValue, at: 1) }

  /// The header's bytes, with room for `more`.
  func encoded(more: Int) -> ByteWriter {
    var writer = ByteWriter(zeros: Self.headerLength, more: more)
    writer.put(Self.format, at: 0)
    writer.put(flags.rawValue, at: 1)
    writer.put(priority.rawValue, at: 2)
    writer.put(codec.version, at: 3)
    writer.put(codec.id, at: 4)
    writer.put(version, at: 8)
    writer.put(stamp, at: 16)
    writer.put(expiresAt, at: 24)
    writer.put(cost, at: 32)
    writer.put(checksum, at: Self.checksumOffset)
    writer.put(UInt64(length), at: 48)
    writer.put(loadTime, at: 56)
    writer.put(UInt32(extraLength), at: 60)
    writer.put(freshUntil, at: 64)
    return writer
  }

  /// The checksum of everything before the value, under a key.
  static func checksum(_ head: Span<UInt8>, under key: borrowing Span<UInt8>) -> UInt64 {
    let first = head.extracting(0..<checksumOffset).checksum(key.checksum(0))
    return head.extracting(checksumOffset + 8..<head.count).checksum(first)
  }

  /// Whether an entry that is all in the tree is as it was written.
  func isIntact(_ record: Span<UInt8>, tail: Span<UInt8>, under key: borrowing Span<UInt8>) -> Bool {
    let head = Self.checksum(record.extracting(0..<valueOffset), under: key)
    let value = record.extracting(valueOffset..<record.count).checksum(head)
    guard flags == .split else { return value == checksum }
    return record.count - valueOffset + tail.count == length && tail.checksum(value) == checksum
  }
}

/// What lies between the header of a record and its value; empty for most entries.
struct DiskCacheExtra: Sendable, Hashable {
  var fullKey: [UInt8] = []
  var tags: [[UInt8]] = []
  var extendedData: [UInt8] = []

  /// The bytes; none if there is nothing to say.
  func encoded() -> [UInt8] {
    if fullKey.isEmpty && tags.isEmpty && extendedData.isEmpty { return [] }
    var writer = ByteWriter()
    writer.append(UInt32(fullKey.count))
    writer.append(bytes: fullKey)
    writer.append(UInt8(tags.count))
    for tag in tags {
      writer.append(UInt8(tag.count))
      writer.append(bytes: tag)
    }
    writer.append(bytes: extendedData)
    return writer.bytes
  }

  /// Reads what a record has of it.
  init(_ record: DiskCacheRecord, in bytes: Span<UInt8>) throws(Malformed) {
    guard record.extraLength > 0 else { return }
    let extra = try bytes.slice(DiskCacheRecord.headerLength, record.extraLength)
    var offset = 4
    func take(_ length: Int) throws(Malformed) -> [UInt8] {
      defer { offset += length }
      return [UInt8](copying: try extra.slice(offset, length))
    }
    fullKey = try take(Int(try extra.load(UInt32.self, at: 0)))
    let count = try take(1)[0]
    for _ in 0..<count { tags.append(try take(Int(try take(1)[0]))) }
    extendedData = try take(extra.count - offset)
  }

  init() {}

  /// What a new entry has to say.
  init(_ entry: DiskCacheEdit.NewEntry) {
    fullKey = entry.key.full
    extendedData = entry.options.extendedData
    if !entry.options.tags.isEmpty { tags = entry.options.tags.map { Array($0.utf8) } }
  }
}
