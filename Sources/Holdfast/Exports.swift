public import LMDB

/// What went wrong in a store; see ``LMDB/StoreError``.
public typealias StoreError = LMDB.StoreError
/// A snapshot of a store, for the length of a closure.
public typealias ReadTransaction = LMDB.ReadTransaction
/// The write transaction of a store, for the length of a closure.
public typealias WriteTransaction = LMDB.WriteTransaction
