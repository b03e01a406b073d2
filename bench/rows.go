package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
)

// rows are the bounds, in the order of the design.
func rows(o options) []row {
	return []row{
		{"pawl run until the agent is spawned", "≤ 60 × an empty program", spawn},
		{"between two turns of the runner", "≤ 10 × git status", betweenTurns},
		{"a task, claimed and committed, 100 files", "≤ 120 × git status", task(100, "proven", 120)},
		{"the same where unproven is enough", "≤ 60 × git status", task(100, "unproven", 60)},
		{fmt.Sprintf("a task, claimed and committed, %d files", o.files), "≤ 6 × git status", task(o.files, "proven", 6)},
		{fmt.Sprintf("a task of a plan of %d tasks", o.tasks), "≤ 1.2 × one of 10 tasks", planOfMany},
		{"from the end of a task's turn to the next prompt", "≤ 8 × a gate run and a fresh context", nextPrompt},
		{"20,000 new files, more than a task without", "≤ 10 × git add and git commit", newFiles(20_000, 10)},
		{"pawl version", "≤ 4 × an empty program", start("version", 4)},
		{"pawl --help", "≤ 4 × an empty program", start("--help", 4)},
		{"a fresh context in a living client", "≤ 0.25 × starting it", warm},
		{"most memory of a client in 50 contexts", "≤ 3 × with one context", memoryRatio},
		{fmt.Sprintf("checkpoint, %d files, 10 changes", o.files), "≤ 2 × git status", checkpoint},
		{fmt.Sprintf("supervising a stream of %d MB", o.stream>>20), "≤ 40 MB resident", stream},
		{"threads of a loop that wake up while its agent sleeps", "≤ 5 a second", wakeups},
		{"memory of that loop, pages of the program's file aside", "≤ 20 MB", restMemory},
		{fmt.Sprintf("status of a loop of %d iterations", o.iterations), "≤ 40 × an empty program", longLoop},
		{fmt.Sprintf("list of %d loops", o.loops), "≤ 40 × an empty program", manyLoops},
		{fmt.Sprintf("first screen of pawl watch, %d loops", o.loops), "≤ 2 × an empty program and their summaries", firstScreen},
		{fmt.Sprintf("pawl watch when idle, %d loops", o.loops), "≤ 5 % of a core", idleScreen},
		{fmt.Sprintf("first page of pawl serve, %d loops", o.loops), "≤ 3 × reading their summaries", firstPage},
		{fmt.Sprintf("page of a loop of %d iterations in pawl serve", o.iterations), "≤ 3 × reading its journal", longPage},
	}
}

// helper runs one of the rows' subjects in a process of its own, as
//
//	bench -as NAME DIR
//
// so that the kernel counts what it costs. It tells whether this was asked.
func helper(argv []string) bool {
	if size, err := strconv.ParseInt(os.Getenv(floodName), 10, 64); err == nil {
		exitOn(flood(size))
		return true
	}
	if len(argv) < 4 || argv[1] != "-as" {
		return false
	}
	subjects := map[string]func(context.Context, string) error{
		"checkpoint": takeCheckpoint,
		"supervise":  supervise,
	}
	exitOn(subjects[argv[2]](context.Background(), argv[3]))
	return true
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		os.Exit(1)
	}
}
