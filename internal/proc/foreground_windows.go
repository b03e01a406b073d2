package proc

import "os"

// InForeground reports whether this process is in the terminal's foreground job. Reading
// from the terminal stops any other process (SIGTTIN).
func InForeground(*os.File) bool { return true }

// InBackground reports whether another job is in the terminal's foreground.
func InBackground(*os.File) bool { return false }
