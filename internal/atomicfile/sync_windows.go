package atomicfile

// SyncDir does nothing: Windows cannot sync a folder.
func SyncDir(string) error { return nil }

// nonblock is not needed: named pipes are not in folders.
const nonblock = 0
