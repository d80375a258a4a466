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
  /// The host it goes to, such as `api.example.com`: when that asks for a pause, everything that goes there waits. `nil`
  /// stands for the one that the sender uses for whatever names none.
  public var host: String?
  /// The credentials it is sent with, by a name of the app's choice such as an account: when a server refuses them,
  /// everything that needs them waits. `nil` stands for those that the sender uses for whatever names none. The
  /// credentials themselves are never stored.
  public var credentials: String?
  /// What the user is to see in the meantime: changes that lie over the records until the request is settled. They are
  /// dropped when it fails, each request's on its own and in any order.
  public var optimistic: [StateKey: FieldChanges] = [:]
  /// What becomes of them when the request is delivered.
  public var optimisticPolicy: OptimisticPolicy = .fold

  /// The longest kind, lane or other name in bytes.
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
  ///   - optimistic: What the user is to see until the request is settled.
  public init(
    kind: String, lane: String, payload: [UInt8], attachments: [StagedAttachment] = [],
    optimistic: [StateKey: FieldChanges] = [:]
  ) {
    self.kind = kind
    self.lane = lane
    self.payload = payload
    self.attachments = attachments
    self.optimistic = optimistic
  }
}
