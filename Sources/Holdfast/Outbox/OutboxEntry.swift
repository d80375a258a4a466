/// One request in the outbox, as its sender, its hooks and tools see it.
public struct OutboxEntry: Sendable {
  /// A file that goes with an entry.
  public struct Attachment: Sendable, Hashable {
    /// The name to send, such as `cat.png`.
    public let name: String
    /// Its media type, such as `image/png`.
    public let mediaType: String
    /// Its size in bytes.
    public let size: Int
    /// Where the file is, as long as the entry is in the outbox.
    public let path: String
    let id: AttachmentID
  }

  /// Its number: entries are numbered in the order of their commits.
  public let id: EntryID
  /// What kind of operation it is.
  public let kind: String
  /// The lane whose order it keeps.
  public let lane: String
  /// What is to be sent; the same bytes at each attempt.
  public let payload: [UInt8]
  /// Files that go with it.
  public let attachments: [Attachment]
  /// The host it goes to; `nil` for the sender's own.
  public let host: String?
  /// The name of the credentials it is sent with; `nil` for the sender's own.
  public let credentials: String?
  /// The key by which the server recognises a repeat; fixed when the entry was made, the same at each attempt.
  public let idempotencyKey: IdempotencyKey
  /// When it was made, in milliseconds since 1970.
  public let createdAt: Int64
}

/// The number of an entry; a later commit has a higher one.
public struct EntryID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number, from 1.
  public let rawValue: UInt64

  /// Makes an id from its number.
  ///
  /// - Parameter rawValue: The number.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Whether the left entry was committed first.
  public static func < (lhs: EntryID, rhs: EntryID) -> Bool { lhs.rawValue < rhs.rawValue }

  /// The number in decimal.
  public var description: String { String(rawValue) }
}

/// 128 random bits that name an operation towards the server, written as a version 4 UUID (RFC 9562).
public struct IdempotencyKey: Sendable, Hashable, CustomStringConvertible {
  let bytes: [UInt8]

  init() {
    var bytes = UInt64.random(in: 0 ... .max).bigEndianBytes + UInt64.random(in: 0 ... .max).bigEndianBytes
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    self.bytes = bytes
  }

  init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// The key as a UUID in lower case.
  public var description: String {
    let hex = bytes.hexadecimal
    var groups: [Substring] = []
    var rest = hex[...]
    for length in [8, 4, 4, 4, 12] {
      groups.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return groups.joined(separator: "-")
  }
}

extension Sequence<UInt8> {
  /// Two lower-case digits a byte.
  var hexadecimal: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
