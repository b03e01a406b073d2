package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// firstPage compares the time of the first answer of pawl serve, all of its HTML.
func firstPage(ctx context.Context, l *lab) (outcome, error) {
	repo, home, err := l.many(ctx)
	if err != nil {
		return outcome{}, err
	}
	subject := func(ctx context.Context) (time.Duration, error) { return l.ask(ctx, repo, home, "/") }
	return pair{subject, readSummaries(home)}.within(ctx, l.runs, 3)
}

// longPage compares the time of the first page of a loop of very many iterations with that
// of reading its journal once.
func longPage(ctx context.Context, l *lab) (outcome, error) {
	repo, long, err := l.long(ctx)
	if err != nil {
		return outcome{}, err
	}
	subject := func(ctx context.Context) (time.Duration, error) {
		return l.ask(ctx, repo, homeOf(long), "/loop/"+long.ID)
	}
	reference := func(context.Context) (time.Duration, error) {
		begun := time.Now()
		for r, err := range long.Records(journal.Mark{}) {
			if err != nil {
				return 0, err
			}
			if r.Type != memory.TypeEvent {
				continue
			}
			var e loop.Event
			if err := json.Unmarshal(r.Data, &e); err != nil {
				return 0, err
			}
		}
		return time.Since(begun), nil
	}
	return pair{subject, reference}.within(ctx, min(l.runs, 9), 3)
}

// ask starts pawl serve, and measures how long it takes to answer with all of a page.
func (l *lab) ask(ctx context.Context, repo, home, path string) (time.Duration, error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, l.pawl, "serve", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env = repo, append(os.Environ(), "PAWL_HOME="+home)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() { stop(); _ = cmd.Wait() }()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("read the address of pawl serve: %w", err)
	}
	url, _, _ := strings.Cut(address, "/#")
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	took := time.Since(begun)
	if err == nil && (answer.StatusCode != http.StatusOK || !bytes.Contains(page, []byte("<h1"))) {
		err = fmt.Errorf("pawl serve answers %s", answer.Status)
	}
	return took, err
}
