import Holdfast

/// A `multipart/form-data` body (RFC 7578), as pieces to be sent one after the other.
///
/// Its bytes depend on the entry alone, so they are the same at each attempt: a server that keeps a digest with the
/// idempotency key recognises the repeat.
struct MultipartBody {
  let contentType: String
  private(set) var parts: [HTTPRequest.Part] = []

  init(_ fields: [HTTPOperation.FormField], _ entry: OutboxEntry, filePart: String) {
    // Nobody who writes the content knows the key, so the content cannot contain it.
    let boundary = "holdfast-\(entry.idempotencyKey)"
    contentType = "multipart/form-data; boundary=\(boundary)"
    for field in fields {
      let type = field.mediaType.map { "Content-Type: \($0)\r\n" } ?? ""
      append("--\(boundary)\r\n\(Self.disposition(field.name))\r\n\(type)\r\n\(field.value)\r\n")
    }
    for attachment in entry.attachments {
      let head = "\(Self.disposition(filePart)); filename=\"\(Self.escaped(attachment.name))\""
      append("--\(boundary)\r\n\(head)\r\nContent-Type: \(attachment.mediaType)\r\n\r\n")
      parts.append(.file(path: attachment.path, size: attachment.size))
      append("\r\n")
    }
    append("--\(boundary)--\r\n")
  }

  private mutating func append(_ text: String) { parts.append(.bytes(Array(text.utf8))) }

  private static func disposition(_ name: String) -> String {
    "Content-Disposition: form-data; name=\"\(escaped(name))\""
  }

  /// Escapes a name as browsers do (HTML Living Standard, "Multipart form data").
  private static func escaped(_ name: String) -> String {
    // By scalars: as characters, a quote with an accent on it would not be a quote.
    var result = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\r": result += "%0D"
      case "\n": result += "%0A"
      case "\"": result += "%22"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
