/// Hands each entry to the code for its type of operation.
///
/// What it does not know is held until the next drain, and so until a version of the app that does: an unknown kind, a
/// payload that does not decode, a version that is newer than this one's.
public struct OperationSender: OutboxSender {
  private struct Handler: Sendable {
    let send: @Sendable (OutboxEntry) async throws -> SendOutcome
    let reconcile: @Sendable (OutboxEntry) async throws -> Reconciliation
  }

  private var handlers: [String: Handler] = [:]

  /// Makes a sender that knows no type yet.
  public init() {}

  /// Has a type's operations sent by `send`; the last registration of a kind counts.
  ///
  /// - Parameters:
  ///   - type: The type of operation.
  ///   - send: Makes one attempt, as ``OutboxSender/send(_:)``.
  ///   - reconcile: Asks what became of an earlier one, as ``OutboxSender/reconcile(_:)``.
  public mutating func register<Operation: OutboxOperation>(
    _ type: Operation.Type, send: @escaping @Sendable (Operation, OutboxEntry) async throws -> SendOutcome,
    reconcile: @escaping @Sendable (Operation, OutboxEntry) async throws -> Reconciliation = { _, _ in .unknown }
  ) {
    handlers[Operation.kind] = Handler(
      send: { entry in
        let operation: Operation
        do { operation = try Operation(entry) } catch { return .unsendable(reason: "\(error)") }
        return try await send(operation, entry)
      },
      reconcile: { entry in
        let operation: Operation
        do { operation = try Operation(entry) } catch { return .failed(.unsendable(reason: "\(error)")) }
        return try await reconcile(operation, entry)
      })
  }

  /// Has entries of a kind sent by another sender, such as one for HTTP.
  ///
  /// - Parameters:
  ///   - kind: The kind of its entries.
  ///   - sender: Sends them.
  public mutating func register(kind: String, _ sender: some OutboxSender) {
    handlers[kind] = Handler(send: { try await sender.send($0) }, reconcile: { try await sender.reconcile($0) })
  }

  /// Makes one attempt with the code for the entry's kind.
  public func send(_ entry: OutboxEntry) async throws -> SendOutcome {
    guard let handler = handlers[entry.kind] else { return .unsendable(reason: unknown(entry)) }
    return try await handler.send(entry)
  }

  /// Asks with the code for the entry's kind.
  public func reconcile(_ entry: OutboxEntry) async throws -> Reconciliation {
    guard let handler = handlers[entry.kind] else { return .failed(.unsendable(reason: unknown(entry))) }
    return try await handler.reconcile(entry)
  }

  private func unknown(_ entry: OutboxEntry) -> String {
    "this version of the app does not know the kind \(entry.kind)"
  }
}
