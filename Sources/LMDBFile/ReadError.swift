/// Why a file, or a part of it, cannot be read.
package struct ReadError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  package enum Code: Sendable, Hashable {
    /// Nothing is at the path.
    case notFound
    /// The process may not read the path.
    case denied
    /// The file is something else; the message says what.
    case notLMDB
    /// An LMDB file of a kind that this reader does not know.
    case unsupported
    /// Pages contradict each other, or are missing.
    case damaged
    /// The device or the system refused.
    case io
    /// A writer has reused pages that were being read.
    case changed
    /// The file has no database of that name.
    case unknownDatabase
    /// A value is larger than the caller can take.
    case tooLarge
  }

  /// The kind of failure.
  package let code: Code
  /// The page it was found on, if it concerns one.
  package let page: Int?
  /// What is wrong, as a phrase that follows the path of the file.
  package let description: String

  package init(_ code: Code, _ description: String, page: Int? = nil) {
    self.code = code
    self.page = page
    self.description = description
  }

  /// A page that cannot be what it should be.
  static func damaged(_ page: Int, _ what: String) -> ReadError {
    ReadError(.damaged, "page \(page): \(what)", page: page)
  }
}
