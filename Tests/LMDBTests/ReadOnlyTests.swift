import Foundation
import LMDB
import TestSupport
import Testing

/// Directories and file systems that cannot be written.
@Suite(.enabled(if: getuid() == 0, "only root can become somebody else, or mount a file system"))
struct ReadOnlyTests {
  /// Makes the process somebody who is not root, with a directory of his own.
  static func becomeNobody() -> TemporaryDirectory {
    precondition(setgid(65534) == 0 && setuid(65534) == 0)
    return TemporaryDirectory()
  }

  static func permit(_ mode: mode_t, _ path: String) {
    precondition(chmod(path, mode) == 0)
  }

  @Test func aReadOnlyDirectoryTakesNoNewFile() async {
    await #expect(processExitsWith: .success) {
      let scratch = ReadOnlyTests.becomeNobody()
      try FileManager.default.createDirectory(atPath: scratch(), withIntermediateDirectories: false)
      ReadOnlyTests.permit(0o500, scratch())
      let failure = #expect(throws: StoreError.self) { try Environment.make(at: scratch()) }
      #expect(failure?.code == .accessDenied && failure?.message.contains(scratch()) == true)
      ReadOnlyTests.permit(0o700, scratch())
      _ = try Environment.make(at: scratch())
    }
  }

  /// The files are there and may be written, which is enough; only rebuilding needs the directory.
  @Test func aReadOnlyDirectoryWithWritableFilesIsUsable() async {
    await #expect(processExitsWith: .success) {
      let scratch = ReadOnlyTests.becomeNobody()
      do { _ = try Environment.make(at: scratch()) }
      ReadOnlyTests.permit(0o500, scratch())
      defer { ReadOnlyTests.permit(0o700, scratch()) }
      let (environment, a) = try Environment.make(at: scratch())
      try environment.set("value", "k", in: a)
      #expect(code { try environment.compact() } == .accessDenied)
      #expect(try environment.text("k", in: a) == "value")
      try environment.close()
      let (again, b) = try Environment.make(at: scratch(), .init(mode: .readOnly))
      #expect(try again.text("k", in: b) == "value")
    }
  }

  @Test func readOnlyFilesAreErrors() async {
    await #expect(processExitsWith: .success) {
      let scratch = ReadOnlyTests.becomeNobody()
      do {
        let (environment, a) = try Environment.make(at: scratch())
        try environment.set("value", "k", in: a)
      }
      // The reader table can be written: enough to read.
      ReadOnlyTests.permit(0o400, scratch("env/data.mdb"))
      #expect(code { try Environment.make(at: scratch()) } == .accessDenied)
      do {
        let (environment, a) = try Environment.make(at: scratch(), .init(mode: .readOnly))
        #expect(try environment.text("k", in: a) == "value")
      }
      ReadOnlyTests.permit(0o400, scratch("env/lock.mdb"))
      #expect(code { try Environment.make(at: scratch(), .init(mode: .readOnly)) } == .accessDenied)
    }
  }

  @Test func aReadOnlyFileSystemCanBeRead() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      guard Mount.temporary(at: scratch.path, size: "4m") else {
        return print("skipped: this process may not mount")
      }
      defer { Mount.remove(scratch.path) }
      do {
        let (environment, a) = try Environment.make(at: scratch())
        try environment.set("value", "k", in: a)
      }
      for hasLockFile in [true, false] {
        if !hasLockFile { try FileManager.default.removeItem(atPath: scratch("env/lock.mdb")) }
        Mount.makeReadOnly(scratch.path)
        #expect(code { try Environment.make(at: scratch()) } == .accessDenied)
        #expect(code { try Environment.make(at: scratch("new")) } == .accessDenied)
        do {
          let (environment, a) = try Environment.make(at: scratch(), .init(mode: .readOnly))
          #expect(try environment.text("k", in: a) == "value")
          try environment.verify()
          #expect(try environment.info().readers.isEmpty)
          #expect(code { try environment.write { _ in } } == .readOnly)
        }
        Mount.makeWritable(scratch.path)
      }
    }
  }
}
