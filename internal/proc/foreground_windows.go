package proc

import "os"

// InForeground reports true: there are no jobs in the background of a console.
func InForeground(*os.File) bool { return true }
