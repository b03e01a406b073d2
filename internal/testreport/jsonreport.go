package testreport

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/testreport/dialect"
)

// jsonDoc holds the fields that are read from JSON reports of jest, vitest, mocha, rspec and
// playwright.
type jsonDoc struct {
	// jest, vitest
	NumTotalTests   *int       `json:"numTotalTests"`
	NumFailedTests  int        `json:"numFailedTests"`
	NumFailedSuites int        `json:"numFailedTestSuites"`
	NumPassed       int        `json:"numPassedTests"`
	NumPending      int        `json:"numPendingTests"`
	TestResults     []jestFile `json:"testResults"`
	// mocha, playwright
	Stats    *jsonStats  `json:"stats"`
	Failures []mochaTest `json:"failures"`
	Suites   []playSuite `json:"suites"`
	Errors   []jsonError `json:"errors"`
	// rspec
	Examples []rspecExample `json:"examples"`
	Summary  *struct {
		Examples int `json:"example_count"`
		Failures int `json:"failure_count"`
		Pending  int `json:"pending_count"`
		Errors   int `json:"errors_outside_of_examples_count"`
	} `json:"summary"`
}

type jsonError struct {
	Message string `json:"message"`
}

type jestFile struct {
	Name       string `json:"name"`
	Status     string `json:"status"`
	Message    string `json:"message"`
	Assertions []struct {
		Ancestors []string `json:"ancestorTitles"`
		Title     string   `json:"title"`
		Status    string   `json:"status"`
		Messages  []string `json:"failureMessages"`
	} `json:"assertionResults"`
}

type jsonStats struct {
	Passes, Failures, Pending *int
	Expected, Unexpected      *int
	Skipped, Flaky            int
}

type mochaTest struct {
	FullTitle string    `json:"fullTitle"`
	Err       jsonError `json:"err"`
}

type rspecExample struct {
	Description string    `json:"full_description"`
	Status      string    `json:"status"`
	Exception   jsonError `json:"exception"`
}

type playSuite struct {
	Title  string      `json:"title"`
	Suites []playSuite `json:"suites"`
	Specs  []struct {
		Title string `json:"title"`
		OK    bool   `json:"ok"`
		Tests []struct {
			Results []struct {
				Error *jsonError `json:"error"`
			} `json:"results"`
		} `json:"tests"`
	} `json:"specs"`
}

// jsonReport reads the first JSON report that starts at the beginning of a line. It also returns
// the name of the framework.
func jsonReport(text []byte) (dialect.Results, string, bool) {
	for range 8 {
		at := indexLine(text, "{")
		if at < 0 {
			break
		}
		text = text[at:]
		if !mayBeReport(text) {
			break
		}
		var doc jsonDoc
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&doc); err == nil {
			if results, framework := doc.results(); framework != "" {
				results.LineKinds, results.HasSummary = 2, true
				return results, framework, true
			}
		}
		text = text[1:]
	}
	return dialect.Results{}, "", false
}

// mayBeReport reports whether text contains a key of a report. It avoids decoding other JSON.
func mayBeReport(text []byte) bool {
	keys := []string{`"numTotalTests"`, `"stats"`, `"example_count"`}
	return slices.ContainsFunc(keys, func(key string) bool { return bytes.Contains(text, []byte(key)) })
}

func (d jsonDoc) results() (dialect.Results, string) {
	switch {
	case d.NumTotalTests != nil:
		return d.jest(), "jest"
	case d.Summary != nil:
		return d.rspec(), "rspec"
	case d.Stats != nil && d.Stats.Unexpected != nil:
		return d.playwright(), "playwright"
	case d.Stats != nil && d.Stats.Passes != nil && d.Stats.Failures != nil:
		return d.mocha(), "mocha"
	}
	return dialect.Results{}, ""
}

func (d jsonDoc) jest() dialect.Results {
	s := dialect.Results{Failed: d.NumFailedTests, Passed: d.NumPassed, Skipped: d.NumPending, OtherFailure: d.NumFailedSuites > 0}
	s.NoTests = *d.NumTotalTests == 0 && !s.OtherFailure
	for _, file := range d.TestResults {
		named := false
		for _, a := range file.Assertions {
			if a.Status == "failed" {
				named = true
				s.Failing = append(s.Failing, strings.Join(append(a.Ancestors, a.Title), " > "))
				addFirstError(&s, a.Messages...)
			}
		}
		if file.Status == "failed" && !named {
			s.Failing = append(s.Failing, file.Name)
			addFirstError(&s, file.Message)
		}
	}
	return s
}

// addFirstError sets FirstError to the first line of the first message, if it is not set yet.
func addFirstError(s *dialect.Results, messages ...string) {
	for _, m := range messages {
		if s.FirstError == "" {
			s.FirstError = firstLine(Plain(m))
		}
	}
}

func (d jsonDoc) rspec() dialect.Results {
	s := dialect.Results{Failed: d.Summary.Failures, Skipped: d.Summary.Pending, OtherFailure: d.Summary.Errors > 0}
	s.Passed = max(0, d.Summary.Examples-s.Failed-s.Skipped)
	s.NoTests = d.Summary.Examples == 0 && !s.OtherFailure
	for _, e := range d.Examples {
		if e.Status == "failed" {
			s.Failing = append(s.Failing, e.Description)
			addFirstError(&s, strings.Join(strings.Fields(e.Exception.Message), " "))
		}
	}
	return s
}

func (d jsonDoc) mocha() dialect.Results {
	s := dialect.Results{Failed: *d.Stats.Failures, Passed: *d.Stats.Passes}
	if d.Stats.Pending != nil {
		s.Skipped = *d.Stats.Pending
	}
	s.NoTests = s.Failed+s.Passed+s.Skipped == 0
	for _, t := range d.Failures {
		s.Failing = append(s.Failing, t.FullTitle)
		addFirstError(&s, t.Err.Message)
	}
	return s
}

func (d jsonDoc) playwright() dialect.Results {
	s := dialect.Results{Failed: *d.Stats.Unexpected, Passed: d.Stats.Flaky, Skipped: d.Stats.Skipped}
	if d.Stats.Expected != nil {
		s.Passed += *d.Stats.Expected
	}
	for _, suite := range d.Suites {
		suite.collect(&s, nil, 0)
	}
	for _, e := range d.Errors {
		if strings.HasPrefix(Plain(e.Message), "Error: No tests found") {
			s.NoTests = true
			continue
		}
		s.OtherFailure = true
		addFirstError(&s, e.Message)
	}
	s.NoTests = s.NoTests || s.Failed+s.Passed+s.Skipped == 0 && !s.OtherFailure
	return s
}

func (p playSuite) collect(s *dialect.Results, above []string, depth int) {
	if depth > 50 {
		return
	}
	above = append(append([]string{}, above...), p.Title)
	for _, spec := range p.Specs {
		if spec.OK {
			continue
		}
		s.Failing = append(s.Failing, strings.Join(append(above, spec.Title), " > "))
		for _, t := range spec.Tests {
			for _, r := range t.Results {
				if r.Error != nil {
					addFirstError(s, r.Error.Message)
				}
			}
		}
	}
	for _, child := range p.Suites {
		child.collect(s, above, depth+1)
	}
}
