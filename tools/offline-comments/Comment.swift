import Foundation
import Holdfast
import HoldfastHTTP

/// One comment, as it is in the input file.
struct Comment: Codable {
  struct Image: Codable {
    let name: String
    let mediaType: String
    let base64: Data
  }

  let id: String
  let post: String
  let user: String
  let text: String
  let createdAt: String
  let image: Image?

  /// What the server gets.
  private struct Content: Encodable {
    let id, user, text, createdAt: String
  }

  func request(_ attachments: [StagedAttachment]) throws -> OutboxRequest {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let content = try encoder.encode(Content(id: id, user: user, text: text, createdAt: createdAt))
    let json = String(decoding: content, as: UTF8.self)
    let segment = post.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? post
    return try OutboxRequest(
      HTTPOperation(
        "POST", "posts/\(segment)/comments",
        body: attachments.isEmpty
          ? .json(json) : .form([.init(name: "comment", value: json, mediaType: "application/json")]),
        filePart: "image"),
      lane: "post:\(post)", attachments: attachments)
  }

  var postKey: StateKey { StateKey(type: "post", id: post) }
  var userKey: StateKey { StateKey(type: "user", id: user) }
  var commentKey: StateKey { StateKey(type: "comment", id: id) }
}

extension StateStore {
  /// Adds to a number of a record; a number that reaches zero is removed.
  func add(
    _ amount: Int64, to field: String, of key: StateKey, in transaction: inout WriteTransaction
  ) throws {
    let value = try merged([key], in: transaction.reader)[field]?.intValue ?? 0
    try update(key, [field: value + amount == 0 ? nil : .int(value + amount)], in: &transaction)
  }
}
