/// What the outbox is asked to deliver.
///
/// ```swift
/// let request = OutboxRequest(
///   kind: "comment.post", lane: "post:42", payload: Array("Hello".utf8), key: "draft:7", conflict: .replace)
/// ```
public struct OutboxRequest: Sendable {
  /// What kind of operation it is, such as `comment.post`; the sender tells by it what the payload means.
  public var kind: String
  /// The version of the payload's form; see ``OutboxOperation``.
  public var schemaVersion: UInt16
  /// The line in which it stands: requests of one lane reach the sender one at a time, in the order of their commits.
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
  /// A group of requests that can be limited and paused together, across lanes and hosts.
  public var queue: String
  /// What it is about, such as a record: the name by which ``conflict`` and ``Outbox/cancel(_:in:)`` find it. Keys of
  /// different queues are different.
  public var key: String?
  /// What happens if another request of the same key is in the outbox.
  public var conflict: ConflictPolicy
  /// Which goes first of those that may go out.
  public var priority: DeliveryPriority
  /// How long to wait before the first attempt; its lane waits with it. Not affected by a change of the wall clock.
  public var delay: Duration
  /// How long it is worth sending: after that it is given up. `nil` is for ever.
  public var maxAge: Duration?
  /// After how many attempts to give up; `nil` is what the drain's ``RetrySchedule`` says.
  public var maxAttempts: Int?
  /// What happens when nobody knows whether the server has it.
  public var recovery: RecoveryPolicy
  /// What the user is to see in the meantime: changes that lie over the records until the request is settled. They are
  /// dropped when it fails, each request's on its own and in any order.
  public var optimistic: [StateKey: FieldChanges]
  /// What becomes of them when the request is delivered.
  public var optimisticPolicy: OptimisticPolicy

  /// The longest kind, lane or other name in bytes.
  public static let nameLimit = 1000
  /// The longest payload in bytes.
  public static let payloadLimit = 1 << 20

  /// Makes a request; nothing is checked before ``Outbox/enqueue(_:in:)``.
  ///
  /// - Parameters:
  ///   - kind: What kind of operation it is; not empty.
  ///   - schemaVersion: The version of the payload's form.
  ///   - lane: The lane whose order it keeps; `nil` is one of its own, so that it waits for nobody.
  ///   - payload: At most ``payloadLimit`` bytes.
  ///   - attachments: Files that go with it, from ``Outbox/stage(_:name:mediaType:)``.
  ///   - host: The host it goes to; `nil` for the sender's own.
  ///   - credentials: The name of the credentials it is sent with; `nil` for the sender's own.
  ///   - queue: The group of requests it belongs to.
  ///   - key: What it is about; a conflict other than `append` needs one.
  ///   - conflict: What happens if another request of the same key is in the outbox.
  ///   - priority: Which goes first of those that may go out.
  ///   - delay: How long to wait before the first attempt.
  ///   - maxAge: How long it is worth sending; `nil` is for ever.
  ///   - maxAttempts: After how many attempts to give up; `nil` is what the drain says.
  ///   - recovery: What happens when nobody knows whether the server has it.
  ///   - optimistic: What the user is to see until the request is settled.
  ///   - optimisticPolicy: What becomes of that when the request is delivered.
  public init(
    kind: String, schemaVersion: UInt16 = 1, lane: String? = nil, payload: [UInt8],
    attachments: [StagedAttachment] = [], host: String? = nil, credentials: String? = nil, queue: String = "",
    key: String? = nil, conflict: ConflictPolicy = .append, priority: DeliveryPriority = .normal,
    delay: Duration = .zero, maxAge: Duration? = nil, maxAttempts: Int? = nil, recovery: RecoveryPolicy = .resend,
    optimistic: [StateKey: FieldChanges] = [:], optimisticPolicy: OptimisticPolicy = .fold
  ) {
    self.kind = kind
    self.schemaVersion = schemaVersion
    self.lane = lane ?? IdempotencyKey().description
    self.payload = payload
    self.attachments = attachments
    self.host = host
    self.credentials = credentials
    self.queue = queue
    self.key = key
    self.conflict = conflict
    self.priority = priority
    self.delay = delay
    self.maxAge = maxAge
    self.maxAttempts = maxAttempts
    self.recovery = recovery
    self.optimistic = optimistic
    self.optimisticPolicy = optimisticPolicy
  }
}
