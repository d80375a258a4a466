import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// What happens when somebody removes the directory of an open cache (S1).
@Suite struct DiskCacheRemovalTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  var path: String { "\(directory.path)/cache" }

  private func remove() throws {
    try FileManager.default.removeItem(atPath: path)
    machine.advance(.milliseconds(1))
  }

  private func moveAway() throws {
    try FileSystem.rename(path, to: "\(directory.path)/elsewhere")
    machine.advance(.milliseconds(1))
  }

  @Test(arguments: [false, true], [DiskCache.Configuration.Durability.unsynced, .full])
  func s1ARemovedDirectoryIsMadeAnew(isMoved: Bool, _ durability: DiskCache.Configuration.Durability) throws {
    let disk = try DiskCache.open(path, machine, .init(durability: durability, inlineThreshold: 10_000))
    let cache = Cache(disk, codec: BytesCodec())
    let events = disk.events
    for index in 0..<20 { try cache.setObject([UInt8(index)], forKey: "\(index)", options: .init(tags: ["t"])) }
    try cache.setObject(pattern(20_000), forKey: "file")
    let old = try disk.environment.lastTransactionID
    if isMoved { try moveAway() } else { try remove() }
    #expect(try cache.object(forKey: "1") == [1], "to read notices nothing")
    #expect(try cache.setObject(pattern(20_000, 1), forKey: "new file") == .stored)
    #expect(try cache.setObject([7], forKey: "new") == .stored)
    #expect(try disk.environment.lastTransactionID > old, "commits are counted on")
    #expect(try cache.object(forKey: "1") == nil, "also from memory")
    #expect(try disk.totalCount() == 2)
    #expect(try cache.object(forKey: "new") == [7])
    #expect(try disk.value(forKey: "new file") == pattern(20_000, 1))
    #expect(try DiskCacheMark(in: path).isSet() == (durability == .unsynced))
    try disk.verify()
    try disk.close()
    withExtendedLifetime(events) {}
    let again = try DiskCache.open(path, machine)
    #expect(try again.value(forKey: "new") == [7])
    #expect(try again.value(forKey: "1") == nil)
    try again.verify()
  }

  @Test func s1ARemovalIsTold() async throws {
    let cache = try DiskCache.open(path, machine)
    try cache.put("a", [1])
    var events = cache.events.makeAsyncIterator()
    try remove()
    // In a form for tasks, and twice.
    try await cache.setValue([2], forKey: "a")
    let place = cache.path
    #expect(await events.next() == .externallyRemoved(path: place))
    try remove()
    try await cache.removeObject(forKey: "a")
    #expect(await events.next() == .externallyRemoved(path: place))
    #expect(try cache.totalCount() == 0)
    try cache.put("a", [3])
    #expect(try cache.value(forKey: "a") == [3])
    try cache.verify()
  }

  @Test func s1WhatWasRemovedIsClosedInPeace() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValue([1], forKey: "a")
    try remove()
    try cache.flush()
    try cache.close()
    #expect(!FileSystem.exists(path))
  }

  /// Where the directory cannot be made, a write says so, and a later one may succeed.
  @Test func s1ADirectoryThatCannotBeMade() throws {
    let parent = "\(directory.path)/parent"
    try FileSystem.makeDirectory(parent)
    let cache = try DiskCache.open("\(parent)/cache", machine)
    try cache.setValue([1], forKey: "a")
    try FileManager.default.removeItem(atPath: parent)
    machine.advance(.milliseconds(1))
    #expect(throws: StoreError.self) { try cache.setValue([2], forKey: "a") }
    try FileSystem.makeDirectory(parent)
    machine.advance(.milliseconds(1))
    try cache.setValue([3], forKey: "a")
    #expect(try cache.value(forKey: "a") == [3])
    try cache.verify()
  }

  /// One file is never open twice in a process: whoever opened it anew has it.
  @Test func s2TheOlderOneOfTwoIsClosed() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValue([1], forKey: "a")
    try remove()
    let other = try DiskCache.open(path, machine)
    #expect(other !== cache)
    try other.setValue([2], forKey: "a")
    let error = #expect(throws: StoreError.self) { try cache.setValue([3], forKey: "a") }
    #expect(error?.code == .closed)
    #expect(throws: StoreError.self) { try cache.value(forKey: "a") }
    #expect(try other.value(forKey: "a") == [2])
    try other.verify()
  }

  /// Another process may have made it anew before: one that had the removed one open counts on from where both were, and
  /// any other one is a stranger.
  @Test(arguments: [0, 100]) func s1AnotherProcessWasFaster(commits: Int) async throws {
    let cache = try DiskCache.open(path, machine)
    for index in 0..<50 { try cache.put("old \(index)", [1]) }
    try remove()
    await #expect(processExitsWith: .success) { [path = path as String, commits = commits as Int] in
      let other = try DiskCache.open(at: path)
      for index in 0..<max(1, commits) { try other.put("new \(index)", [2]) }
    }
    if commits == 0 {
      #expect(throws: StoreError.self) { try cache.put("a", [3]) }
      return
    }
    try cache.put("a", [3])
    #expect(try cache.value(forKey: "new 99") == [2] && cache.value(forKey: "old 1") == nil)
    #expect(try cache.totalCount() == commits + 1)
    try cache.verify()
  }
}
