// Command words checks the project's language: retired words and banned phrases in
// documents, messages, help texts and declared names, retired file names, and the length
// of commit subjects. Run it from the repository's root:
//
//	go run -C tools ./words -root ..
//
// It prints each fault with file and line, and exits with 1 if there is one.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	since := flag.String("since", "origin/main", "check the commit subjects after this revision; empty = none")
	flag.Parse()
	faults, err := check(os.DirFS(*root))
	if err == nil && *since != "" {
		var subjects []string
		if subjects, err = commits(*root, *since); err == nil {
			faults = append(faults, longSubjects(subjects)...)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(2)
	}
	for _, f := range faults {
		fmt.Println(f)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}

// check reads every document and source file below the root.
func check(root fs.FS) ([]string, error) {
	var faults []string
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || path == "tools") {
				return fs.SkipDir
			}
			return nil
		}
		faults = append(faults, fileName(path)...)
		isDoc, isCode := filepath.Ext(path) == ".md" || filepath.Base(path) == "help.txt", filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go")
		if !isDoc && !isCode {
			return nil
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		if isDoc {
			faults = append(faults, inDocument(path, string(text))...)
			return nil
		}
		more, err := inSource(path, text)
		faults = append(faults, more...)
		return err
	})
	return faults, err
}

// commits returns the subjects of the commits after since, none if it is unknown.
func commits(root, since string) ([]string, error) {
	git := exec.Command("git", "-C", root, "log", "--no-merges", "--format=%h %s", since+"..HEAD")
	out, err := git.Output()
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		return nil, nil // a clone without that branch
	}
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' }), nil
}

// maxSubject is how many characters the subject of a commit may have.
const maxSubject = 60

// longSubjects names the commits whose subject is too long or has no area.
func longSubjects(commits []string) []string {
	var faults []string
	for _, c := range commits {
		hash, subject, _ := strings.Cut(c, " ")
		if n := len([]rune(subject)); n > maxSubject {
			faults = append(faults, fmt.Sprintf("commit %s: the subject has %d characters, at most %d: %s", hash, n, maxSubject, subject))
		}
		if area, _, ok := strings.Cut(subject, ": "); !ok || strings.Contains(area, " ") {
			faults = append(faults, fmt.Sprintf("commit %s: write \"area: summary\": %s", hash, subject))
		}
	}
	return faults
}
