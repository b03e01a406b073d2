package agenttest

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// parts is the variable that says which part of the long tests runs: "1/3" for the first
// of three, "1/1" for all. .ci/run has a part of them run at each commit, and continues to
// the next part with the next, since all take longer than one waits for a change; make
// test and make nightly run all.
const parts = "PAWL_PART"

// sample is the part that runs where nothing says which: go test ./... takes minutes.
const sample = 16

// part reads which part of how many runs, counted from 1. Where nothing says so it is all
// of what -run names, else a sample.
func part() (nth, of int) {
	value := os.Getenv(parts)
	switch {
	case value != "":
	case flag.Lookup("test.run").Value.String() != "":
		return 1, 1
	default:
		return 1, sample
	}
	if n, err := fmt.Sscanf(value, "%d/%d", &nth, &of); n != 2 || err != nil || nth < 1 || nth > of {
		panic(parts + "=" + value + ": want 1/3, 2/3 or 3/3, say")
	}
	return nth, of
}

// PartOf is the part of many like things that runs.
func PartOf[T any](all []T) []T {
	nth, of := part()
	var some []T
	for i := nth - 1; i < len(all); i += of {
		some = append(some, all[i])
	}
	return some
}

// Sample is Part for a package of which .ci/run runs all: go test ./... by itself has time
// for a sample.
func Sample() {
	if os.Getenv(parts) == "" {
		Part()
	}
}

// SampleOf is PartOf for things of which .ci/run has all.
func SampleOf[T any](all []T) []T {
	if os.Getenv(parts) == "" {
		return PartOf(all)
	}
	return all
}

// Part has a TestMain run that part of the tests of its package which -run names.
// Programs that they start know nothing of it.
func Part() {
	flag.Parse()
	if _, of := part(); of == 1 || flag.Lookup("test.list").Value.String() != "" {
		return
	}
	named := cmp.Or(flag.Lookup("test.run").Value.String(), ".")
	out, err := exec.Command(os.Args[0], "-test.list", named).Output() //nolint:gosec // this program
	if err != nil {
		panic(fmt.Sprintf("list the tests: %v", err))
	}
	names := slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return strings.HasPrefix(name, "Benchmark") })
	if err := flag.Set("test.run", "^("+strings.Join(PartOf(names), "|")+")$"); err != nil {
		panic(err)
	}
	if err := os.Unsetenv(parts); err != nil {
		panic(err)
	}
}
