// Command pawl keeps a coding agent turning until the work is verifiably done.
// All that it does stands in internal/cli.
package main

import (
	"os"

	"github.com/pawl-dev/pawl/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Exit: os.Exit}))
}
