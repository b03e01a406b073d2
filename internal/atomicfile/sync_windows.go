package atomicfile

// SyncDir makes the names in a folder (created, renamed, removed) survive a
// power cut. It does nothing where the system or the file system has no such
// thing.
func SyncDir(string) error { return nil }
