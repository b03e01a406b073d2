package sign_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

// A script without an extension is read as its first line says.
func TestScriptsWithoutExtension(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"#!/bin/sh\ncaller=$(cat /proc/$PPID/cmdline)\n":              "bin/x:2 looks at the process that started it: caller=$(cat /proc/$PPID/cmdline)",
		"#!/usr/bin/env python3\nimport sys\nif sys.gettrace():\n":    "bin/x:3 asks whether it is being tested: if sys.gettrace():",
		"#!/usr/bin/env -S node --no-warnings\nDate.now = () => 0;\n": "bin/x:2 changes what others use, too: Date.now = () => 0;",
		"caller=$(cat /proc/$PPID/cmdline)\n":                         "",
	} {
		got := ""
		for _, s := range sign.NewChange("bin/x", nil, []byte(text)).Signs() {
			got += s.String()
		}
		if got != want {
			t.Errorf("%s\nis %q, not %q", text, got, want)
		}
	}
}
