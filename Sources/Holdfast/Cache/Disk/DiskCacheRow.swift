import LMDB

/// A row of `cache.entry` as a tool finds it that reads the file on its own.
package struct DiskCacheRow: Sendable {
  /// The key as the app knows it.
  package let key: [UInt8]
  /// The bytes of the value, wherever they are.
  package let length: Int
  package let cost: Int64
  package let priority: CachePriority
  /// Which write it is; a later one has a higher number.
  package let version: UInt64
  /// When it was written, in milliseconds since 1970, unless the clock was set back.
  package let writtenAt: Int64
  /// The key of the row in `cache.touch` that it has if it was read since it was written.
  package let useKey: [UInt8]
  /// When it ends, in milliseconds since 1970; 0 for never.
  package let expiresAt: Int64
  /// The number of the codec, and its version.
  package let codec: CacheCodecID
  package let tags: [[UInt8]]
  /// Where the value is.
  package let place: Place
  /// The file of a value that has one.
  package let file: File?
  private let valueOffset: Int
  private let stamp: UInt64

  /// Where a value is stored.
  package enum Place: String, Sendable {
    /// In the row.
    case row
    /// In this row and the next.
    case rows
    /// In a file of its own.
    case file
  }

  /// What a row says of the file of its value.
  package struct File: Sendable, Hashable {
    /// Its name in the folder `files` beside the data file.
    package let name: String
    /// The checksum of its bytes: that of each piece of ``pieceLength`` bytes, from the one of the piece before; the
    /// first from zero.
    package let checksum: UInt64

    package static let pieceLength = DiskCacheStagedFile.pieceLength

    fileprivate init(_ named: DiskCacheFileName) {
      name = named.name.bigEndianBytes.hexadecimal
      checksum = named.checksum
    }

    /// Whether a name can be that of such a file.
    package static func isName(_ name: String) -> Bool {
      name.utf8.count == 16 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
  }

  /// Whether a row is the end of the value before it, and no entry.
  package static func isTail(_ stored: [UInt8]) -> Bool { stored.last == 0 }

  /// Reads a row.
  ///
  /// - Throws: `corruptRecord`.
  package init(_ stored: [UInt8], _ value: [UInt8]) throws(StoreError) {
    let none: [UInt8] = []
    let (keySpan, valueSpan, noTail) = (stored.span, value.span, none.span)
    do throws(Malformed) {
      guard let record = DiskCacheRecord(valueSpan) else { throw Malformed("its head cannot be one") }
      let extra = try DiskCacheExtra(record, in: valueSpan)
      key = Array(DiskCacheKey(stored: stored, full: extra.fullKey).textBytes)
      length = record.length
      cost = record.cost
      priority = record.priority
      version = record.version
      writtenAt = Int64(clamping: record.version / 1000)
      stamp = record.stamp
      useKey = record.stamp.bigEndianBytes
      expiresAt = record.expiresAt
      codec = record.codec
      tags = extra.tags
      place = record.flags == .file ? .file : record.flags == .split ? .rows : .row
      valueOffset = record.valueOffset
      file = record.flags == .file ? File(DiskCacheFileName(record, in: valueSpan)) : nil
      if record.flags != .split, !record.isIntact(valueSpan, tail: noTail, under: keySpan) {
        throw Malformed("its checksum is wrong")
      }
    } catch {
      let text = String(decoding: stored, as: UTF8.self)
      throw StoreError(.corruptRecord, "The cache entry \(text) cannot be read: \(error.reason).")
    }
  }

  /// When it was last used, in milliseconds since 1970, and how often since it was written, by its row in `cache.touch`.
  package func use(_ row: [UInt8]?) -> (lastUsedAt: Int64, hits: UInt64) {
    let bytes = row ?? []
    let use = DiskCacheUse(bytes.span)
    return (Int64(clamping: (use?.last ?? stamp) / 1000), use?.hits(of: version) ?? 0)
  }

  /// The key of the row with the end of a value in two rows.
  package static func tail(of stored: [UInt8]) -> [UInt8] { stored + [0] }

  /// Whether the bytes of a value in two rows are those that were written.
  package static func isIntact(_ stored: [UInt8], _ value: [UInt8], tail: [UInt8]) -> Bool {
    let (keySpan, valueSpan, tailSpan) = (stored.span, value.span, tail.span)
    return DiskCacheRecord(valueSpan)?.isIntact(valueSpan, tail: tailSpan, under: keySpan) ?? false
  }

  /// The bytes of the value that are in the row itself.
  package func value(in row: [UInt8]) -> [UInt8] { place == .file ? [] : Array(row[valueOffset...]) }
}
