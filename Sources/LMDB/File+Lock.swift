#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension File {
  /// Who else may have the lock at the same time.
  package enum LockKind: Sendable {
    /// Nobody.
    case exclusive
    /// Whoever asks for a shared one.
    case shared
  }

  /// Takes the advisory lock of the file, which the kernel releases when the last handle to it goes away. A handle that
  /// has one of the other kind exchanges it.
  ///
  /// - Parameters:
  ///   - kind: Who else may have it.
  ///   - waiting: Whether to wait while another process holds it.
  /// - Returns: Whether the lock was taken.
  /// - Throws: `io` if the file system has no locks.
  package borrowing func lock(_ kind: LockKind = .exclusive, waiting: Bool) throws(StoreError) -> Bool {
    while flock(descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | (waiting ? 0 : LOCK_NB)) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return false
      default: throw .posix(errno, "lock \(path)")
      }
    }
    return true
  }

  /// Takes the lock, or gives up after a while.
  ///
  /// Asks again and again, since the system has no wait with an end. Even a file that nobody else uses may be locked
  /// for a moment: a child between `fork` and `exec` has its parent's locks.
  ///
  /// - Parameters:
  ///   - kind: Who else may have it.
  ///   - limit: How long to try.
  /// - Returns: Whether the lock was taken.
  /// - Throws: `io` if the file system has no locks.
  package borrowing func lock(_ kind: LockKind, atMost limit: Duration) throws(StoreError) -> Bool {
    let end = ContinuousClock.now + min(limit, .longestWait)
    while try !lock(kind, waiting: false) {
      if ContinuousClock.now >= end { return false }
      usleep(1000)
    }
    return true
  }

  /// Gives the lock back.
  package borrowing func unlock() {
    _ = flock(descriptor, LOCK_UN)
  }

  /// Marks the file as open in this process, until ``unmarkAsOpen()`` or until the handle goes away.
  ///
  /// The mark is a lock of Linux's open file descriptions on the byte that has the process's number for its offset. It
  /// conflicts with another handle of the same process, whoever opened that, and with no other process; except that
  /// two processes of the same number, each in its own PID namespace, conflict as well. A handle for reading has a
  /// weaker mark, which conflicts with those for writing only. Apple's systems have no such lock.
  ///
  /// - Returns: Whether nobody else in this process has marked it.
  borrowing func markAsOpen(writable: Bool) -> Bool {
    #if canImport(Darwin)
      return true
    #else
      // A file system without locks cannot tell.
      return setMark(writable ? F_WRLCK : F_RDLCK) == 0 || errno != EAGAIN && errno != EACCES
    #endif
  }

  /// Takes the mark away, also from the copies of the handle that children of this process have inherited.
  borrowing func unmarkAsOpen() {
    #if !canImport(Darwin)
      _ = setMark(F_UNLCK)
    #endif
  }

  #if !canImport(Darwin)
    private borrowing func setMark(_ type: some BinaryInteger) -> Int32 {
      var lock = flock()
      lock.l_type = Int16(type)
      lock.l_whence = Int16(SEEK_SET)
      lock.l_start = off_t(getpid())
      lock.l_len = 1
      let setOpenFileLock: Int32 = 37  // F_OFD_SETLK
      return unsafe fcntl(descriptor, setOpenFileLock, &lock)
    }
  #endif
}
