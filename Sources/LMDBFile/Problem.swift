/// One thing that a check has found.
package struct Problem: Sendable, Hashable {
  package enum Severity: String, Sendable, Hashable, CaseIterable {
    /// Records are lost or cannot be trusted.
    case error
    /// Odd, but nothing is lost.
    case warning
    /// What to do next.
    case hint
  }

  package let severity: Severity
  package let page: Int?
  /// The database it concerns.
  package let database: String?
  /// What it is, as a sentence without a full stop.
  package let message: String

  init(_ severity: Severity, page: Int? = nil, database: String? = nil, _ message: String) {
    self.severity = severity
    self.page = page
    self.database = database
    self.message = message
  }
}
