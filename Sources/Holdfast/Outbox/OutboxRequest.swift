/// What the outbox is asked to deliver.
public struct OutboxRequest: Sendable {
  /// What kind of operation it is, such as `comment.post`; the sender tells by it what the payload means.
  public var kind: String
  /// The queue within the outbox: requests of one lane reach the sender one at a time, in the order of their commits.
  /// Lanes do not wait for each other.
  public var lane: String
  /// What is to be sent, in a form that the sender understands. Keep it small: files belong into ``attachments``.
  public var payload: [UInt8]
  /// Files that go with it.
  public var attachments: [StagedAttachment]

  /// The longest kind or lane in bytes.
  public static let nameLimit = 1000
  /// The longest payload in bytes.
  public static let payloadLimit = 1 << 20

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - kind: What kind of operation it is; not empty.
  ///   - lane: The lane whose order it keeps.
  ///   - payload: At most ``payloadLimit`` bytes.
  ///   - attachments: Files that go with it, from ``Outbox/stage(_:name:mediaType:)``.
  public init(kind: String, lane: String, payload: [UInt8], attachments: [StagedAttachment] = []) {
    self.kind = kind
    self.lane = lane
    self.payload = payload
    self.attachments = attachments
  }
}
