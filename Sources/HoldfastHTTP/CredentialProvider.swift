/// What a set of credentials is for.
public struct CredentialScope: Sendable, Hashable {
  /// The name that the entry gives its credentials; `nil` for those that the sender uses for whatever names none.
  public let name: String?
  /// Scheme, host and port of the server they are shown to, such as `https://api.example.com`. Look at it before giving
  /// away a secret.
  public let origin: String

  /// Makes a scope.
  ///
  /// - Parameters:
  ///   - name: The name that the entry gives its credentials.
  ///   - origin: Scheme, host and port of the server.
  public init(name: String?, origin: String) {
    self.name = name
    self.origin = origin
  }
}

/// Gives the header fields that prove who is asking, such as `Authorization`.
///
/// They are never stored with an entry: whoever finds the device finds no secrets in the outbox, and what was recorded
/// with an old token is sent with the new one.
///
/// ```swift
/// struct Tokens: CredentialProvider {
///   func headers(for scope: CredentialScope, replacing refused: [String: String]?) async throws -> [String: String] {
///     guard scope.origin == "https://api.example.com" else { return [:] }
///     let token = refused == nil ? await current() : try await refresh()
///     return ["Authorization": "Bearer \(token)"]
///   }
///   func current() async -> String { "…" }
///   func refresh() async throws -> String { "…" }
/// }
/// ```
public protocol CredentialProvider: Sendable {
  /// The header fields for a scope.
  ///
  /// Asked at each attempt with `nil`, which should be quick. When a server refuses them with 401 or 407, asked once
  /// with the refused ones for all entries of the scope, which wait meanwhile; the entry is then sent once more with
  /// what comes back. When the drain is cancelled, so is the task that this runs in.
  ///
  /// - Parameters:
  ///   - scope: What the credentials are for.
  ///   - refused: What a server has just refused; `nil` if nothing is known against the present ones.
  /// - Returns: The header fields.
  /// - Throws: Anything, if there are none: nothing is sent, the attempt does not count, and the scope waits.
  func headers(for scope: CredentialScope, replacing refused: [String: String]?) async throws -> [String: String]
}

/// For servers that need no credentials.
public struct NoCredentials: CredentialProvider {
  /// Makes a provider.
  public init() {}

  /// No header fields.
  public func headers(
    for scope: CredentialScope, replacing refused: [String: String]?
  ) async throws -> [String: String] { [:] }
}
