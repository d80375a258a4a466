public import Holdfast

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One HTTP request, in a form that can wait in the outbox.
///
/// It is stored as it is, on a device that may be lost: put no secrets into it. Credentials are asked for when it is
/// sent; see ``HTTPSender``.
public struct HTTPOperation: Sendable, Hashable {
  /// What the request carries besides the attachments.
  public enum Body: Sendable, Hashable {
    /// Nothing.
    case empty
    /// JSON text, sent as `application/json`; not possible with attachments.
    case json(String)
    /// Fields of a form, sent as `multipart/form-data`, in this order and before the attachments.
    case form([FormField])
  }

  /// One field of a form.
  public struct FormField: Codable, Sendable, Hashable {
    /// The name of the part.
    public var name: String
    /// Its text.
    public var value: String
    /// Its media type; `nil` for plain text.
    public var mediaType: String?

    /// Makes a field.
    ///
    /// - Parameters:
    ///   - name: The name of the part.
    ///   - value: Its text.
    ///   - mediaType: Its media type, such as `application/json`.
    public init(name: String, value: String, mediaType: String? = nil) {
      self.name = name
      self.value = value
      self.mediaType = mediaType
    }
  }

  /// The kind of all outbox entries that hold an operation.
  public static let kind = "http"

  /// The method, such as `POST`.
  public var method: String
  /// Where it goes: a reference that is resolved against the sender's base URL, such as `posts/42/comments`, or an
  /// absolute URL. A reference does not freeze a host into what is stored.
  public var url: String
  /// Headers to send; none that carries a secret, and none that the sender sets itself.
  public var headers: [String: String]
  /// What the request carries.
  public var body: Body
  /// The name of the parts that hold the attachments.
  public var filePart: String

  /// Makes an operation; it is checked when it becomes an `OutboxRequest`.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: A reference against the sender's base URL, or an absolute URL.
  ///   - headers: Headers to send.
  ///   - body: What the request carries.
  ///   - filePart: The name of the parts that hold the attachments.
  public init(
    _ method: String, _ url: String, headers: [String: String] = [:], body: Body = .empty, filePart: String = "file"
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.filePart = filePart
  }
}

extension HTTPOperation: Codable {
  private enum CodingKeys: CodingKey {
    case format, method, url, headers, json, form, filePart
  }

  /// Of the stored form; raised when its meaning changes. What was stored before there was a number is of format 1.
  private static let format = 1

  /// Reads the stored form.
  ///
  /// - Parameter decoder: Where to read from.
  /// - Throws: `unsupportedVersion` for a later format, so that no part of such a request is sent, or a `DecodingError`.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let format = try values.decodeIfPresent(Int.self, forKey: .format) ?? Self.format
    guard format == Self.format else {
      throw StoreError(
        .unsupportedVersion,
        "An HTTP operation has format \(format), and this version reads \(Self.format); send it with a later version.")
    }
    let body: Body =
      if let json = try values.decodeIfPresent(String.self, forKey: .json) {
        .json(json)
      } else if let fields = try values.decodeIfPresent([FormField].self, forKey: .form) {
        .form(fields)
      } else {
        .empty
      }
    self.init(
      try values.decode(String.self, forKey: .method), try values.decode(String.self, forKey: .url),
      headers: try values.decode([String: String].self, forKey: .headers), body: body,
      filePart: try values.decode(String.self, forKey: .filePart))
  }

  /// Writes the stored form.
  ///
  /// - Parameter encoder: Where to write to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(Self.format, forKey: .format)
    try values.encode(method, forKey: .method)
    try values.encode(url, forKey: .url)
    try values.encode(headers, forKey: .headers)
    try values.encode(filePart, forKey: .filePart)
    switch body {
    case .empty: break
    case .json(let text): try values.encode(text, forKey: .json)
    case .form(let fields): try values.encode(fields, forKey: .form)
    }
  }
}

extension HTTPOperation {
  /// Reads the operation out of an outbox entry.
  ///
  /// - Parameter payload: The payload of an entry of the kind ``kind``.
  /// - Throws: `corruptRecord` if it is not an operation, `unsupportedVersion` if a later version has written it.
  public init(payload: [UInt8]) throws(StoreError) {
    do {
      self = try JSONDecoder().decode(HTTPOperation.self, from: Data(payload))
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.corruptRecord, "This payload is not an HTTP operation: \(error).")
    }
  }
}

extension OutboxRequest {
  /// A request that an ``HTTPSender`` delivers; an absolute URL gives it its `host`.
  ///
  /// - Parameters:
  ///   - operation: The HTTP request.
  ///   - lane: The lane whose order it keeps; `nil` is one of its own, so that it waits for nobody.
  ///   - attachments: Files that go with it; they need a ``HTTPOperation/Body/form(_:)``, or an empty body.
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
  /// - Throws: `invalidValue` for what cannot be sent, or must not be stored.
  public init(
    _ operation: HTTPOperation, lane: String? = nil, attachments: [StagedAttachment] = [],
    credentials: String? = nil, queue: String = "", key: String? = nil, conflict: ConflictPolicy = .append,
    priority: DeliveryPriority = .normal, delay: Duration = .zero, maxAge: Duration? = nil, maxAttempts: Int? = nil,
    recovery: RecoveryPolicy = .resend,
    optimistic: [StateKey: FieldChanges] = [:], optimisticPolicy: OptimisticPolicy = .fold
  ) throws(StoreError) {
    try operation.check(hasAttachments: !attachments.isEmpty)
    if let bad = attachments.first(where: { !$0.mediaType.isHeaderValue }) {
      throw StoreError(
        .invalidValue,
        "The media type of the attachment \(bad.name) has characters that a header cannot have; remove them.")
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      self.init(
        kind: HTTPOperation.kind, lane: lane, payload: Array(try encoder.encode(operation)), attachments: attachments,
        host: try operation.host, credentials: credentials, queue: queue, key: key, conflict: conflict,
        priority: priority, delay: delay, maxAge: maxAge, maxAttempts: maxAttempts, recovery: recovery,
        optimistic: optimistic, optimisticPolicy: optimisticPolicy)
    } catch {
      throw StoreError(.invalidValue, "The HTTP operation cannot be stored: \(error).")
    }
  }
}
