#if os(Linux)
  import CCurl
  import LMDB
  import Synchronization

  /// Makes HTTP exchanges with libcurl, all on one thread that sleeps in the kernel between events.
  ///
  /// Why not `URLSession`: on Linux that is libcurl behind a layer which (in 6.3.1) keeps a core busy while it waits for
  /// a reply, crashes when the upload of a file is cancelled or a reply claims a length near 2^63, hangs on a challenge
  /// it is not asked about, refuses IPv6 literals, and tells "no connection" for requests that were sent.
  ///
  /// Connections are kept and used again. Redirects are not followed and nothing is sent twice.
  package final class CurlClient: Sendable {
    private let worker: CurlWorker

    /// Makes a client; its thread is started by the first request and ends with the client.
    package init() { worker = CurlWorker() }

    deinit { worker.stop() }

    /// Makes one exchange; never blocks. When the task is cancelled the connection is closed and the call returns at
    /// once.
    package func perform(_ request: CurlRequest) async -> CurlResult {
      let handle = Monitor<CurlTransfer?>(nil)
      return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let transfer = CurlTransfer(request, continuation)
          handle.update { $0 = transfer }
          if Task.isCancelled { transfer.isCancelled.store(true, ordering: .relaxed) }
          worker.start(transfer)
        }
      } onCancel: {
        guard let transfer = handle.update({ $0 }) else { return }
        transfer.isCancelled.store(true, ordering: .relaxed)
        worker.wakeUp()
      }
    }
  }

  /// The thread of a client, and what it is told.
  @safe
  private final class CurlWorker: @unchecked Sendable {
    // Sendable: the handle's only use on other threads is `curl_multi_wakeup`, which is made for that.

    private struct State {
      var submitted: [CurlTransfer] = []
      var isRunning = false
      var isStopped = false
    }

    private let state = Monitor(State())
    private let multi: UnsafeMutableRawPointer?

    init() {
      _ = Self.globalState
      unsafe multi = curl_multi_init()
    }

    deinit {
      if let multi = unsafe multi { unsafe curl_multi_cleanup(multi) }
    }

    /// Sets up libcurl once in a process.
    private static let globalState = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    func start(_ transfer: CurlTransfer) {
      let mustStart = state.update { state in
        state.submitted.append(transfer)
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if mustStart && !startThread() {
        let submitted = state.update { state in
          state.isRunning = false
          defer { state.submitted = [] }
          return state.submitted
        }
        for transfer in submitted { transfer.finish(CURLE_OUT_OF_MEMORY) }
      } else {
        wakeUp()
      }
    }

    private func startThread() -> Bool {
      if unsafe multi == nil { return false }
      return DetachedThread.start { self.run() } == 0
    }

    func stop() {
      state.update { $0.isStopped = true }
      wakeUp()
    }

    func wakeUp() {
      if let multi = unsafe multi { unsafe curl_multi_wakeup(multi) }
    }

    private func run() {
      guard let multi = unsafe multi else { return }
      // By the address of the handle.
      var active: [UInt: CurlTransfer] = [:]
      while true {
        let (submitted, isStopped) = state.update { state in
          defer { state.submitted = [] }
          return (state.submitted, state.isStopped)
        }
        for transfer in submitted {
          if let handle = unsafe transfer.open(), unsafe curl_multi_add_handle(multi, handle) == CURLM_OK {
            active[UInt(bitPattern: handle)] = transfer
          } else {
            transfer.finish(CURLE_FAILED_INIT)
          }
        }
        for (address, transfer) in active where transfer.isCancelled.load(ordering: .relaxed) {
          unsafe curl_multi_remove_handle(multi, transfer.handle)
          active[address] = nil
          transfer.finish(nil)
        }
        if active.isEmpty && isStopped { return }
        var running: Int32 = 0
        unsafe curl_multi_perform(multi, &running)
        var remaining: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &remaining) {
          guard unsafe message.pointee.msg == CURLMSG_DONE, let handle = unsafe message.pointee.easy_handle else {
            continue
          }
          let code = unsafe message.pointee.data.result
          unsafe curl_multi_remove_handle(multi, handle)
          active.removeValue(forKey: UInt(bitPattern: handle))?.finish(code)
        }
        // Returns for what happens on a socket, for libcurl's own timers and for `wakeUp()`; none of them is a poll.
        unsafe curl_multi_poll(multi, nil, 0, .max, nil)
      }
    }
  }
#endif
