/// The merged fields of some keys as a value of a type, and each time they have changed what it has become.
///
/// Like ``StateUpdates`` in every respect: begins with the present, is conflated, ends when its task is cancelled. A
/// value comes for each change of the fields, also of those that the type does not know.
public struct DecodedStateUpdates<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  /// Reads the sequence.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var updates: StateUpdates.AsyncIterator

    init(_ updates: StateUpdates.AsyncIterator) { self.updates = updates }

    /// Waits until the fields differ from those before.
    ///
    /// - Returns: The value that they make; `nil` when the task is cancelled.
    /// - Throws: `DecodingError` if the fields do not make one, also when there are none; as ``StateStore/merged(_:)``.
    ///   The reader may ask again, and waits then until they have changed.
    public mutating func next() async throws -> Value? {
      guard let fields = try await updates.next() else { return nil }
      return try FieldDecoder().decode(Value.self, from: fields, of: updates.keys)
    }
  }

  let updates: StateUpdates

  /// Starts at the present.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(updates.makeAsyncIterator()) }
}
