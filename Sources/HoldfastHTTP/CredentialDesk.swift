import LMDB

/// Asks a provider to replace refused credentials: once for all attempts that were refused with them.
final class CredentialDesk: Sendable {
  private typealias Fields = [String: String]

  private struct Case {
    var refused: Fields
    /// The one inquiry, and what it has brought once it is over.
    var inquiry: Task<Fields, any Error>
  }

  private let provider: any CredentialProvider
  private let cases = Monitor<[CredentialScope: Case]>([:])

  init(_ provider: any CredentialProvider) { self.provider = provider }

  func headers(for scope: CredentialScope) async throws -> [String: String] {
    try await provider.headers(for: scope, replacing: nil)
  }

  /// What to use in place of refused credentials.
  ///
  /// Whoever comes while an inquiry runs, or after it with credentials that it has replaced, gets its result. A failed
  /// one is forgotten, so that the next attempt asks again.
  func headers(for scope: CredentialScope, replacing refused: [String: String]) async throws -> [String: String] {
    let inquiry = cases.update { cases in
      if let known = cases[scope], known.refused == refused { return known.inquiry }
      let inquiry = Task { [provider] in try await provider.headers(for: scope, replacing: refused) }
      cases[scope] = Case(refused: refused, inquiry: inquiry)
      return inquiry
    }
    let forget = { [cases] in
      cases.update { cases in
        if cases[scope]?.inquiry == inquiry { cases[scope] = nil }
      }
    }
    do {
      let fields = try await withTaskCancellationHandler {
        try await inquiry.value
      } onCancel: {
        inquiry.cancel()
      }
      // The same ones again: whoever is refused next asks anew.
      if fields == refused { forget() }
      return fields
    } catch {
      forget()
      throw error
    }
  }
}
