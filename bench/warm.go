package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
	"github.com/pawl-dev/pawl/internal/agent/claude"
)

// warm compares a fresh context in a living client with the start of another
// one, by the clock: the client is a process of its own in both. Its model is
// played from a script.
func warm(ctx context.Context, l *lab) (outcome, error) {
	living, start, done, err := l.living(ctx, messagesapi.Steps(messagesapi.Text("Good morning.")))
	if err != nil {
		return outcome{}, err
	}
	defer done()
	subject := func(ctx context.Context) (time.Duration, error) {
		if _, err := living.Turn(ctx, agent.Turn{Prompt: "hello", Timeout: time.Minute}, func(agent.Event) {}); err != nil {
			return 0, err
		}
		begin := time.Now()
		err := living.(agent.Warm).Fresh(ctx)
		return time.Since(begin), err
	}
	reference := func(ctx context.Context) (time.Duration, error) {
		begin := time.Now()
		s, err := start(ctx)
		took := time.Since(begin)
		if err != nil {
			return 0, err
		}
		return took, s.Close()
	}
	return pair{subject, reference}.within(ctx, min(l.runs, 7), 0.25)
}

// living starts the pinned client, whose model is played by a script. start starts others
// of the kind; done ends this one and its model.
func (l *lab) living(ctx context.Context, plays func(messagesapi.Request) messagesapi.Response) (s agent.Session, start func(context.Context) (agent.Session, error), done func(), err error) {
	client, err := pinnedClient()
	if err != nil {
		return nil, nil, nil, err
	}
	api := messagesapi.Serve(plays)
	if start, err = l.starter(client, api.URL); err == nil {
		s, err = start(ctx)
	}
	if err != nil {
		api.Close()
		return nil, nil, nil, err
	}
	return s, start, func() { _ = s.Close(); api.Close() }, nil
}

// starter starts clients whose model is played by the API at this address.
func (l *lab) starter(client, url string) (func(context.Context) (agent.Session, error), error) {
	home := filepath.Join(l.dir, "client")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (agent.Session, error) {
		return claude.Agent{Command: client}.Start(ctx, agent.Options{Dir: home, Marker: "bench", Env: map[string]string{
			"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"),
			"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "scripted",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
		}})
	}, nil
}

// pinnedClient is where .ci/clients installs it.
func pinnedClient() (string, error) {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	path, err := filepath.Abs(filepath.Join(".cache", "clients", "node_modules", "@anthropic-ai",
		"claude-code-"+runtime.GOOS+"-"+arch, exe("", "claude")))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w: run .ci/clients", errAbsent)
	}
	return path, nil
}
