import Foundation
import Holdfast

/// Writes a `multipart/form-data` body (RFC 7578) to a file, piece by piece.
///
/// The boundary comes from the idempotency key, so that every attempt sends the same bytes.
struct MultipartBody {
  private static let pieceLength = 64 << 10

  let boundary: String
  let fields: [HTTPOperation.FormField]
  let attachments: [OutboxEntry.Attachment]
  let filePart: String

  var contentType: String { "multipart/form-data; boundary=\(boundary)" }

  /// Writes the body; holds one piece of a file in memory at a time.
  func write(to path: String) throws {
    guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
      let file = FileHandle(forWritingAtPath: path)
    else {
      throw StoreError(.io, "The temporary file \(path) cannot be made; check the directory for temporary files.")
    }
    defer { try? file.close() }
    for field in fields {
      let type = field.mediaType.map { "Content-Type: \($0)\r\n" } ?? ""
      try file.write(
        text: "--\(boundary)\r\n\(disposition(field.name))\r\n\(type)\r\n\(field.value)\r\n")
    }
    for attachment in attachments {
      let head = "--\(boundary)\r\n\(disposition(filePart)); filename=\"\(escaped(attachment.name))\"\r\n"
      try file.write(text: "\(head)Content-Type: \(attachment.mediaType)\r\n\r\n")
      try copy(attachment, to: file)
      try file.write(text: "\r\n")
    }
    try file.write(text: "--\(boundary)--\r\n")
  }

  private func disposition(_ name: String) -> String {
    "Content-Disposition: form-data; name=\"\(escaped(name))\""
  }

  /// Escapes a name as browsers do (HTML Living Standard, "Multipart form data").
  private func escaped(_ name: String) -> String {
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

  private func copy(_ attachment: OutboxEntry.Attachment, to file: FileHandle) throws {
    guard let source = FileHandle(forReadingAtPath: attachment.path) else {
      throw StoreError(
        .notFound, "The attachment \(attachment.name) is missing at \(attachment.path); restore the file.")
    }
    defer { try? source.close() }
    var length = 0
    while let piece = try source.read(upToCount: Self.pieceLength), !piece.isEmpty {
      try file.write(contentsOf: piece)
      length += piece.count
    }
    guard length == attachment.size else {
      throw StoreError(
        .damaged,
        "The attachment \(attachment.name) has \(length) bytes instead of \(attachment.size); restore \(attachment.path)."
      )
    }
  }
}

extension FileHandle {
  fileprivate func write(text: String) throws { try write(contentsOf: Data(text.utf8)) }
}
