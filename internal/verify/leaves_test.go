package verify

import (
	"slices"
	"testing"
)

func TestTestNameInItsFile(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"tests/test_sum.py::TestSum::test_adds[1-2]":      "test_adds",
		"tests/test_sum.py::test_adds":                    "test_adds",
		"example.com/sum.TestAdds/one":                    "TestAdds",
		"example.com/sum.TestAdds":                        "TestAdds",
		"example.com/sum/wide.TestAdds":                   "TestAdds",
		"example.com/sum.TestAdds/one/of two":             "TestAdds",
		"downloads > GET /files/../index.js > is refused": "is refused",
		"suite > [x] is refused":                          "[x] is refused",
		"sum::tests::adds":                                "adds",
		"com.example.SumTest.adds()":                      "adds",
		"test_adds (tests.test_sum.TestSum)":              "test_adds",
	} {
		got := namesInFile([]string{id})
		if !slices.Contains(got, want) {
			t.Errorf("%s: %q", id, got)
		}
		for _, folder := range []string{"tests", "com", "com/sum"} {
			if slices.Contains(got, folder) {
				t.Errorf("%s: many files name its folder: %q", id, got)
			}
		}
	}
}

// An ID that names its file says nothing of a test in another one.
func TestTestIDMatchesOnlyItsFile(t *testing.T) {
	t.Parallel()
	isTest := func(file string) bool { return IsTest(nil, file) }
	for id, want := range map[string]bool{
		"test/sum.test.ts > sums > //example.com":   true,
		"sum.test.ts > sums > adds":                 true,
		"test/parse.test.ts > sums > //example.com": false,
		"tests/test_parse.py::TestSum::test_adds":   false,
		"parse.ts > adds":                           true,
		"sum::tests::adds":                          true,
		"example.com/sum.TestAdds":                  true,
	} {
		if got := len(idsOfFile("test/sum.test.ts", []string{id}, isTest)) > 0; got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}
