#if os(Linux)
  import Glibc
  import LMDB

  /// Tells when the machine gains or loses its way to the network, as the kernel reports it (rtnetlink(7)).
  ///
  /// There is one if an interface other than the loopback is up, has a carrier, and has an address that reaches beyond
  /// the link. Between messages of the kernel its thread sleeps; there is no timer.
  package final class LinkWatcher: Sendable {
    /// One end of a pair of sockets; when it is closed, the thread ends.
    private let stopper: Int32
    /// How often the thread has woken up.
    private let count = Monitor(0)

    /// How often the kernel has woken the watcher up.
    package var wakeUps: Int { count.update { $0 } }

    /// Starts watching; `nil` if the system does not let the process watch.
    ///
    /// - Parameter onChange: Told on the watcher's thread: once at the start, then at each change.
    package init?(onChange: @escaping @Sendable (Bool) -> Void) {
      guard let socket = Self.openSocket() else { return nil }
      var ends: [Int32] = [-1, -1]
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      let hasPipe = unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0
      stopper = ends[1]
      // After the socket is bound: a change from here on is not missed.
      let isStarted =
        hasPipe
        && DetachedThread.start { [end = ends[0], count] in
          Self.watch(socket, until: end, count, onChange)
          close(socket)
          close(end)
        } == 0
      guard isStarted else {
        for file in [socket] + ends where file >= 0 { close(file) }
        return nil
      }
    }

    /// Lets the thread end. Call it once.
    package func stop() { close(stopper) }

    private static func openSocket() -> Int32? {
      let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
      // NETLINK_ROUTE is 0.
      let socket = socket(AF_NETLINK, kind, 0)
      guard socket >= 0 else { return nil }
      // struct sockaddr_nl: family, padding, port 0 for one that the kernel picks, and the groups: links and addresses
      // of both families (RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR).
      var address: (UInt16, UInt16, UInt32, UInt32) = (UInt16(AF_NETLINK), 0, 0, 0x1 | 0x10 | 0x100)
      let size = socklen_t(MemoryLayout.size(ofValue: address))
      let code = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(socket, $0, size) }
      }
      guard code == 0 else {
        close(socket)
        return nil
      }
      return socket
    }

    private static func watch(
      _ socket: Int32, until end: Int32, _ count: Monitor<Int>, _ onChange: @Sendable (Bool) -> Void
    ) {
      var last = isReachable()
      onChange(last)
      var waiting = [
        pollfd(fd: socket, events: Int16(POLLIN), revents: 0), pollfd(fd: end, events: Int16(POLLIN), revents: 0),
      ]
      while true {
        let code = unsafe poll(&waiting, 2, -1)
        if code < 0, errno != EINTR { return }
        count.update { $0 += 1 }
        if waiting[1].revents != 0 { return }
        discardMessages(socket)
        let now = isReachable()
        if now != last { onChange(now) }
        last = now
      }
    }

    /// Messages only say that something has changed, as does the error for a queue that was too short; what is read
    /// anew.
    private static func discardMessages(_ socket: Int32) {
      var buffer = [UInt8](repeating: 0, count: 1 << 14)
      while true {
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        if count < 0, errno != ENOBUFS, errno != EINTR { return }
      }
    }

    private static func isReachable() -> Bool {
      var first: UnsafeMutablePointer<ifaddrs>?
      // Nobody knows: better to try than to wait for ever.
      guard unsafe getifaddrs(&first) == 0 else { return true }
      defer { unsafe freeifaddrs(first) }
      var next = unsafe first
      while let interface = unsafe next {
        if unsafe reachesBeyondTheLink(interface.pointee) { return true }
        unsafe next = unsafe interface.pointee.ifa_next
      }
      return false
    }

    private static func reachesBeyondTheLink(_ interface: ifaddrs) -> Bool {
      let flags = unsafe interface.ifa_flags
      let isUp = flags & UInt32(IFF_UP) != 0 && flags & UInt32(IFF_RUNNING) != 0
      guard isUp, flags & UInt32(IFF_LOOPBACK) == 0, let address = unsafe interface.ifa_addr else {
        return false
      }
      let bytes = UnsafeRawPointer(address)
      switch Int32(unsafe address.pointee.sa_family) {
      case AF_INET:
        // 169.254.0.0/16 is the link's own (RFC 3927). The address is behind the family and the port.
        return unsafe bytes.load(fromByteOffset: 4, as: UInt8.self) != 169
          || bytes.load(fromByteOffset: 5, as: UInt8.self) != 254
      case AF_INET6:
        // So is fe80::/10 (RFC 4291). Family, port and flow label come first.
        return unsafe bytes.load(fromByteOffset: 8, as: UInt8.self) != 0xFE
          || bytes.load(fromByteOffset: 9, as: UInt8.self) & 0xC0 != 0x80
      default: return false
      }
    }
  }
#endif
