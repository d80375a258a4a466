import CLMDB

extension Environment {
  /// Has `action` called after each commit that changes something, whoever in this process makes it: all who open one
  /// file share one environment. Commits of other processes only show in ``lastTransactionID``.
  ///
  /// It runs on the thread that committed, outside every lock and after the ``WriteTransaction/afterCommit(_:)`` actions
  /// of the commit; the write returns when it has returned. A group of writes is one commit. Two threads that commit one
  /// after the other may call it at the same time or in the other order. So the number says "at least this commit"; a
  /// read that begins in `action` sees it.
  ///
  /// - Parameter action: Short and non-blocking, such as waking a task; gets the commit's ``ReadTransaction/id``. The
  ///   environment holds it, so that it must not hold the environment.
  /// - Returns: What keeps the observer. A call that has begun when it goes away is still made to its end.
  package func observeCommits(_ action: @escaping @Sendable (_ transactionID: Int) -> Void) -> CommitObservation {
    CommitObservation(commitObservers, action)
  }

  /// The number of the newest commit of all processes, without a transaction.
  ///
  /// Costs two atomic operations and a look at the two header pages in the map; no system call, no lock. A commit that
  /// has returned, in any process, is counted. Numbers never go back while the environment is open, not even over
  /// ``compact()``: with the same number, everything read before is still current.
  ///
  /// The header is written a moment before new snapshots see the commit. So what was read belongs to the number of its
  /// snapshot, ``ReadTransaction/id``, which may be older than a number taken here just before.
  ///
  /// - Throws: As ``read(_:)``.
  package var lastTransactionID: Int {
    get throws(StoreError) {
      unsafe try snapshots.withHandle { raw in unsafe LMDB.lastTransactionID(of: raw) }
    }
  }
}

/// The number of the newest commit, as the header pages in the map of an LMDB handle tell it.
@unsafe
func lastTransactionID(of environment: OpaquePointer?) -> Int {
  var info = unsafe MDB_envinfo()
  unsafe mdb_env_info(environment, &info)
  return unsafe info.me_last_txnid
}

extension ReadTransaction {
  /// The number of the commit that the snapshot shows; inside a write, of the commit that it will make.
  ///
  /// A snapshot that was taken while two commits were made may show the second of them under the number from before:
  /// LMDB 0.9 reads the number first. Then it is never equal to ``Environment/lastTransactionID`` again.
  package var id: Int { unsafe mdb_txn_id(raw) }

  /// Whether the snapshot surely shows the commit of its ``id`` and not a later one; `false` once there are two more.
  package var isSureOfID: Bool { unsafe lastTransactionID(of: mdb_txn_env(raw)) < id + 2 }
}

extension WriteTransaction {
  /// The number that the commit will have, if it changes anything.
  package var id: Int { unsafe mdb_txn_id(raw) }
}
