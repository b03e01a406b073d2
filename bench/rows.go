package main

import (
	"context"
	"fmt"
	"os"
)

// rows are the bounds, in the order of the design.
func rows(o options) []row {
	return []row{
		{fmt.Sprintf("checkpoint, %d files, 10 changes", o.files), "≤ 2 × git status", checkpoint},
	}
}

// helper runs one of the rows' subjects in a process of its own, as
//
//	bench -as NAME DIR
//
// so that the kernel counts what it costs. It tells whether this was asked.
func helper(argv []string) bool {
	if len(argv) < 4 || argv[1] != "-as" {
		return false
	}
	subjects := map[string]func(context.Context, string) error{
		"checkpoint": takeCheckpoint,
	}
	if err := subjects[argv[2]](context.Background(), argv[3]); err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		os.Exit(1)
	}
	return true
}
