// What a user of the store meets of the engine. The whole engine is not exported: its `Environment` would hide SwiftUI's.
@_exported public import struct LMDB.ReadTransaction
@_exported public import struct LMDB.StoreError
@_exported public import struct LMDB.WriteTransaction
