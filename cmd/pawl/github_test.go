package main

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-dev/pawl/internal/tracker/trackertest"
)

// github starts a GitHub with the issues of o/r in a file, to which gh is logged in.
func github(ts *testscript.TestScript, args []string) {
	var issues []trackertest.Issue
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &issues))
	dir, err := os.MkdirTemp("", "gh")
	ts.Check(err)
	env, stop, err := trackertest.New(issues...).Start(dir)
	ts.Check(err)
	ts.Defer(func() { stop(); _ = os.RemoveAll(dir) })
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		ts.Setenv(name, value)
	}
}
