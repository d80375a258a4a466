import Foundation
import LMDB
import TestSupport
import Testing

/// Real limits, as opposed to calls that fail on demand.
@Suite struct DiskFullTests {
  /// Writes until something fails, makes room, and writes again.
  static func fill(_ path: String, makeRoom: () -> Void) throws {
    let (environment, a) = try Environment.make(at: path, .init(durability: .relaxed))
    var written = 0
    var failure: StoreError?
    while failure == nil && written < 10_000 {
      do {
        try environment.write { try $0.set([UInt8](repeating: 1, count: 3000), forKey: "\(written)", in: a) }
        written += 1
      } catch { failure = error as? StoreError }
    }
    #expect(failure?.code == .diskFull, "\(String(describing: failure))")
    #expect(written > 10)
    let entries = try environment.statistics(of: a).entries
    #expect(entries == written)
    try environment.verify()
    makeRoom()
    try environment.write { t in for n in 0..<10 { try t.removeValue(forKey: "\(n)", in: a) } }
    try environment.set("more", "k", in: a)
    try environment.verify()
  }

  @Test func limitOnFileSizes() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      limitFileSize(to: 300 << 10)
      try DiskFullTests.fill(scratch()) { limitFileSize(to: 10 << 20) }
    }
  }

  @Test(.enabled(if: getuid() == 0, "only root can mount a small file system"))
  func fullFileSystem() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      // A mount name space of its own, so that nothing is left behind.
      guard enterMountNamespace(), mountTemporaryFileSystem(at: scratch.path, size: "600k") else {
        return print("skipped: this process may not mount")
      }
      defer { unsafe umount2(scratch.path, Int32(MNT_DETACH)) }
      try Data(count: 200 << 10).write(to: URL(filePath: scratch("ballast")))
      try DiskFullTests.fill(scratch()) { try? FileManager.default.removeItem(atPath: scratch("ballast")) }
    }
  }
}

// Of the calling thread alone, which runs the whole test.
private func enterMountNamespace() -> Bool {
  typealias Unshare = @convention(c) (Int32) -> Int32
  let unshare = unsafe unsafeBitCast(dlsym(dlopen(nil, RTLD_NOW), "unshare")!, to: Unshare.self)
  let newMountNamespace: Int32 = 0x0002_0000
  guard unshare(newMountNamespace) == 0 else { return false }
  return unsafe mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0
}

private func mountTemporaryFileSystem(at path: String, size: String) -> Bool {
  unsafe "size=\(size)".withCString { unsafe mount("tmpfs", path, "tmpfs", 0, $0) } == 0
}
