// Command pawl runs a coding agent in a loop until tests show that the work is done.
// Package internal/cli implements it.
package main

import (
	"os"

	"github.com/pawl-dev/pawl/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Exit: os.Exit}))
}
