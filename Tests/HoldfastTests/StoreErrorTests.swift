import Foundation
import Holdfast
import TestSupport
import Testing

@Suite struct StoreErrorTests {
  @Test func whatAppsShowIsTheSentence() throws {
    let directory = TemporaryDirectory()
    do {
      _ = try Store.open(at: "\(directory.path)/none/store")
      Issue.record("There is no such folder.")
    } catch {
      let shown = (error as any Error).localizedDescription
      #expect(shown == error.message && shown.contains("make that first"), "\(shown)")
    }
  }
}
