#if os(Linux)
  import Foundation
  import HoldfastHTTP
  import LMDB
  import Networking
  import TestSupport
  import Testing

  @testable import Holdfast

  /// The kernel's view of the network, in a network namespace that the test makes: a process of its own, whose only link
  /// it may cut.
  @Suite struct NetworkMonitorTests {
    private static let variable = "HOLDFAST_NETWORK_NAMESPACE"
    private static let isInside = ProcessInfo.processInfo.environment[variable] != nil

    /// Runs one of the tests below in a namespace of its own, or says why not.
    private func runInside(_ test: String) throws {
      // Without rights over the machine, a user namespace gives those over a network of one's own.
      let ways = [["--net"], ["--user", "--map-root-user", "--net"]]
      let way = try ways.first { way in
        try Command("/usr/bin/env", ["unshare"] + way + ["ip", "link", "add", "v0", "type", "veth"]).status == 0
      }
      guard let way else {
        print("skipped \(test): this process may not make a network namespace, or iproute2 is not installed")
        return
      }
      // Foundation's `Process` needs the loopback, which is down in a new namespace.
      let program = [
        "sh", "-c", "ip link set lo up && exec \"$0\" --testing-library swift-testing --filter \"$1\"",
        CommandLine.arguments[0], "NetworkMonitorTests/\(test)",
      ]
      let command = try Command("/usr/bin/env", ["\(Self.variable)=1", "unshare"] + way + program)
      #expect(command.status == 0, "\(command.output)\(command.errors)")
      #expect((command.output + command.errors).contains("Test \(test)() passed"), "\(command.output)\(command.errors)")
    }

    @Test(.disabled(if: NetworkMonitorTests.isInside)) func theLinkIsWatched() throws {
      try runInside("insideTheLinkIsWatched")
    }

    private static func ip(_ words: String) throws {
      let command = try Command("/usr/bin/env", ["ip"] + words.split(separator: " ").map(String.init))
      #expect(command.status == 0, "ip \(words): \(command.errors)")
    }

    @Test(.enabled(if: NetworkMonitorTests.isInside)) func insideTheLinkIsWatched()
      async throws
    {
      let seen = Monitor<[Bool]>([])
      let watcher = try #require(LinkWatcher { status in seen.update { $0.append(status) } })
      var statuses = SystemNetworkMonitor().statuses().makeAsyncIterator()
      func expectNext(_ isReachable: Bool, _ count: Int) async {
        let status = await statuses.next(isolation: #isolation)
        #expect(status == NetworkStatus(isReachable: isReachable))
        let last = seen.wait { $0.count >= count ? $0.last : nil }
        #expect(last == isReachable)
      }
      await expectNext(false, 1)  // The loopback alone is no network.
      try Self.ip("link add v0 type veth peer name v1")
      try Self.ip("link set v1 up")
      try Self.ip("link set v0 up")
      try Self.ip("address add 169.254.1.2/16 dev v0")
      try Self.ip("address add 10.9.9.1/24 dev v0")
      await expectNext(true, 2)  // Nothing before: neither a link without an address nor one with its own counts.
      try Self.ip("link set v1 down")  // The cable, so to speak.
      await expectNext(false, 3)
      try Self.ip("link set v1 up")
      await expectNext(true, 4)
      try Self.ip("address del 10.9.9.1/24 dev v0")
      await expectNext(false, 5)
      try Self.ip("address add 2001:db8::1/64 dev v0 nodad")
      await expectNext(true, 6)
      #expect(seen.update { $0 } == [false, true, false, true, false, true])
      // Each wake-up had a message of the kernel as its cause; there is no timer that could add one.
      let wakeUps = watcher.wakeUps
      #expect(wakeUps >= 5 && wakeUps < 60, "\(wakeUps)")
      watcher.stop()
    }

    @Test(.disabled(if: NetworkMonitorTests.isInside)) func entriesWaitForTheLink() throws {
      try runInside("insideEntriesWaitForTheLink")
    }

    @Test(.enabled(if: NetworkMonitorTests.isInside))
    func insideEntriesWaitForTheLink() async throws {
      let directory = TemporaryDirectory()
      let clock = ManualClock(isJumping: false)
      let store = try Store.open(at: "\(directory.path)/store", time: clock.time)
      let server = try LoopbackServer(host: "0.0.0.0") { _ in .reply(200) }
      defer { server.stop() }
      func enqueue(_ count: Int) async throws {
        try await store.write { t in
          for _ in 0..<count {
            let operation = HTTPOperation("POST", "p", body: .json("{}"))
            _ = try store.outbox.enqueue(OutboxRequest(operation, lane: "l"), in: &t)
          }
        }
      }
      try Self.ip("link add v0 type veth peer name v1")
      try Self.ip("link set v1 up")
      try await enqueue(3)
      let sender = try HTTPSender(baseURL: "http://10.9.9.1:\(server.port)/")
      let drain = Task {
        try await store.outbox.drain(
          with: sender, options: .init(goal: .forever, network: SystemNetworkMonitor(), pollInterval: nil))
      }
      var requests = server.requests.makeAsyncIterator()
      for round in 1...2 {
        // No network: one entry may try in a minute or later, and nothing else happens until then.
        await clock.somebodySleeps(atLeast: .seconds(50))
        let (sleeps, commits) = (clock.sleeps, try store.environment.lastTransactionID)
        #expect(server.received.count == 3 * (round - 1))
        #expect(try store.outbox.pendingEntries(limit: 9).allSatisfy { $0.attempts == 0 })
        clock.advance(by: .seconds(5))
        #expect(clock.sleeps == sleeps, "nobody wakes up to look")
        #expect(try store.environment.lastTransactionID == commits)
        try Self.ip("address add 10.9.9.1/24 dev v0")
        try Self.ip("link set v0 up")
        // Each client comes back at a time of its own within five seconds.
        await clock.somebodySleeps(atMost: .seconds(5))
        clock.advance(by: .seconds(5))
        for _ in 0..<3 { _ = await requests.next(isolation: #isolation) }
        #expect(server.received.count == 3 * round)
        try Self.ip("link set v0 down")
        try Self.ip("address flush dev v0")
        if round == 1 { try await enqueue(3) }
      }
      drain.cancel()
      #expect(try await drain.value.died == 0)
      #expect(try store.outbox.counts().dead == 0)
    }

    @Test func stoppingEndsTheThread() throws {
      final class Token: Sendable {
        let isGone: Monitor<Bool>
        init(_ isGone: Monitor<Bool>) { self.isGone = isGone }
        deinit { isGone.update { $0 = true } }
      }
      let isGone = Monitor(false)
      let watcher = LinkWatcher { [token = Token(isGone)] _ in _ = token }
      try #require(watcher != nil)
      watcher?.stop()
      // The thread is the last to have the closure.
      isGone.wait { $0 ? () : nil }
    }

    @Test func theNetworkCanBeTakenForGranted() async throws {
      var statuses = AlwaysReachable().statuses().makeAsyncIterator()
      let status = await statuses.next(isolation: #isolation)
      #expect(status == NetworkStatus(isReachable: true))
      let next = Task { [stream = AlwaysReachable().statuses()] in
        var count = 0
        for await _ in stream { count += 1 }
        return count
      }
      next.cancel()
      #expect(await next.value <= 1, "there is no second one")
    }
  }
#endif
