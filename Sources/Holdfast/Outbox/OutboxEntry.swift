/// One request in the outbox, as its sender, its hooks and tools see it.
public struct OutboxEntry: Sendable, Hashable {
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
  /// The version of the payload's form.
  public let schemaVersion: UInt16
  /// The lane whose order it keeps.
  public let lane: String
  /// What is to be sent; the same bytes at each attempt.
  public let payload: [UInt8]
  /// Files that go with it.
  public let attachments: [Attachment]
  /// The group of requests it belongs to.
  public let queue: String
  /// The host it goes to; `nil` for the sender's own.
  public let host: String?
  /// The name of the credentials it is sent with; `nil` for the sender's own.
  public let credentials: String?
  /// What it is about; `nil` if nobody said.
  public let key: String?
  /// Which goes first of those that may go out.
  public let priority: DeliveryPriority
  /// What happens when nobody knows whether the server has it.
  public let recovery: RecoveryPolicy
  /// After how many attempts it is given up; `nil` is what the drain's ``RetrySchedule`` says.
  public let maxAttempts: Int?
  /// The key by which the server recognises a repeat; fixed when the entry was made, the same at each attempt.
  public let idempotencyKey: IdempotencyKey
  /// When it was made, in milliseconds since 1970.
  public let createdAt: Int64
}

extension OutboxEntry: CustomStringConvertible {
  /// What names it in a log, without its content.
  public var description: String { "entry \(id), \(kind) in lane \(lane), \(payload.count) bytes" }
}

extension OutboxEntry {
  /// Makes an entry that is in no outbox, so that a sender can be tested with it.
  ///
  /// - Parameters:
  ///   - request: What it is to hold; its own attachments are left out.
  ///   - id: Its number.
  ///   - attachments: The files that go with it.
  ///   - createdAt: When it was made, in milliseconds since 1970.
  public init(_ request: OutboxRequest, id: EntryID, attachments: [Attachment] = [], createdAt: Int64 = 0) {
    self.init(request, id: id, attachments: attachments, idempotencyKey: IdempotencyKey(), createdAt: createdAt)
  }

  init(
    _ request: OutboxRequest, id: EntryID, attachments: [Attachment], idempotencyKey: IdempotencyKey, createdAt: Int64
  ) {
    self.id = id
    kind = request.kind
    schemaVersion = request.schemaVersion
    lane = request.lane
    payload = request.payload
    self.attachments = attachments
    queue = request.queue
    host = request.host
    credentials = request.credentials
    key = request.key
    priority = request.priority
    recovery = request.recovery
    maxAttempts = request.maxAttempts
    self.idempotencyKey = idempotencyKey
    self.createdAt = createdAt
  }

  /// What it shares with others on its way.
  var route: Route { Route(queue: queue, host: host, credentials: credentials) }

  /// The same entry under another number.
  func renumbered(_ id: EntryID) -> OutboxEntry {
    OutboxEntry(
      id: id, kind: kind, schemaVersion: schemaVersion, lane: lane, payload: payload, attachments: attachments,
      queue: queue, host: host, credentials: credentials, key: key, priority: priority, recovery: recovery,
      maxAttempts: maxAttempts,
      idempotencyKey: idempotencyKey, createdAt: createdAt)
  }
}

extension OutboxEntry.Attachment {
  /// Describes a file that is in no outbox, so that a sender can be tested with it.
  ///
  /// - Parameters:
  ///   - name: The name to send.
  ///   - mediaType: Its media type.
  ///   - size: Its size in bytes.
  ///   - path: Where the file is.
  public init(name: String, mediaType: String, size: Int, path: String) {
    self.init(name: name, mediaType: mediaType, size: size, path: path, id: AttachmentID())
  }
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
