package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl/internal/testdiff"
	"github.com/pawl-dev/pawl/internal/verify"
)

// isTest asks the globs that hold where nobody says otherwise.
func isTest(t *testing.T, file string) bool {
	t.Helper()
	return slices.ContainsFunc(verify.DefaultTests(), func(glob string) bool {
		ok, err := doublestar.Match(glob, file)
		if err != nil {
			t.Fatalf("%s: %v", glob, err)
		}
		return ok
	})
}

func TestTestFilesAreRecognized(t *testing.T) {
	t.Parallel()
	tests := `calc_test.go app/tests.py app/test_views.py views_test.py conftest.py test.js tests.mjs lib/test-add.js add-test.cjs add_test.ts
		add.test.tsx add.spec.js add_spec.ts login.cy.ts src/__tests__/add.js cypress/support/commands.js __snapshots__/a.snap src/snapshots/lib__a.snap
		add_test.sh test_add.sh test.sh spec_of/add_spec.lua AddTest.java AddTests.kt AddSpec.scala AddSpec.groovy AddSpec.kt AddIT.java
		src/test/java/Helper.java src/commonTest/kotlin/A.kt src/androidTest/A.kt AddTests.cs AddTest.cs App.Tests/Helpers.cs App.Test/Helpers.cs
		AddTests.swift AddTest.swift Tests/AppTests/Add.swift AppUITests/Login.swift add_test.dart add_test.exs AddTest.php test-add.php
		add_spec.rb add_test.rb test_add.rb spec/add.rb add.bats t/add.t lib/t/add.t t/add.sh cgi/add.t.sh login.feature features/step_definitions/a.rb
		add_test.cc add_test.cpp test_add.c AddTest.cpp src/tests.rs src/add/test.rs add_test.rs tests/add.rs add_test.zig
		golden/a.txt lib/a.golden a.test.js.snapshot e2e/a.spec.ts-snapshots/home.png a.approved.txt Add.verified.json data/expected/a.json`
	for file := range strings.FieldsSeq(tests) {
		if !isTest(t, file) {
			t.Errorf("%s is taken for no test", file)
		}
	}
	work := `calc.go test.go testing.go latest.py contest.py attest.js greatest.ts protest.rb manifest.json request.py inspect.js spec.ts openapi_spec.py
		JobSpec.java Latest.java Contest.cs testament.py tester.sh src/main/Test.txt src/latest/a.py src/main/java/A.java spec_helper_docs.md
		docs/test.md tests.toml lib/contests/a.py special/a.js goldenrod/a.txt include/expected/expected.hpp user.verified.ts snapshots/service.ts`
	for file := range strings.FieldsSeq(work) {
		if isTest(t, file) {
			t.Errorf("%s is taken for a test", file)
		}
	}
}

// A test that testdiff could read, and that no glob picks, would be judged by
// nobody.
func TestReadableTestFilesMatchAGlob(t *testing.T) {
	t.Parallel()
	for _, ext := range append(testdiff.Extensions(), "go") {
		file := "lib/add_test." + ext
		if !testdiff.Knows(file) || !isTest(t, file) {
			t.Errorf("%s: read %t, picked %t", file, testdiff.Knows(file), isTest(t, file))
		}
	}
}
