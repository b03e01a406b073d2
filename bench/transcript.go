package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// exchange returns the transcript lines of one answer of the model and the result of its tool call.
func exchange(n int) string {
	text := strings.Repeat("The parser keeps the comment with the line that it stands on. ", 8)
	common := fmt.Sprintf(`"userType":"external","entrypoint":"cli","cwd":"/repo/parser","sessionId":%q,"version":"2.1.332","gitBranch":"main"`, sessionID)
	usage := fmt.Sprintf(`"stop_reason":"tool_use","usage":{"input_tokens":4,"cache_read_input_tokens":%d,"cache_creation_input_tokens":900,"output_tokens":300}`, 20_000+n%100_000)
	said := func(block, content string) string {
		return fmt.Sprintf(`{"parentUuid":"u%d","isSidechain":false,"message":{"model":"claude-sonnet-5","id":"msg_%d","type":"message","role":"assistant","content":[%s],%s},"requestId":"req_%d","type":"assistant","uuid":"%s%d","timestamp":"2026-11-21T09:00:00.000Z",%s}`+"\n",
			n, n, content, usage, n, block, n, common)
	}
	return said("t", fmt.Sprintf(`{"type":"text","text":%q}`, text)) +
		said("c", fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"go test ./..."}}`, n)) +
		fmt.Sprintf(`{"parentUuid":"c%d","isSidechain":false,"promptId":%q,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":%q,"is_error":false}]},"uuid":"r%d","timestamp":"2026-11-21T09:00:01.000Z",%s}`+"\n",
			n, promptID, n, strings.Repeat("ok  \tparser\t0.01s\n", 100), n, common)
}

// lastWords end a transcript: the agent stops without a claim.
const lastWords = `{"parentUuid":"r0","isSidechain":false,"message":{"model":"claude-sonnet-5","id":"msg_last","type":"message","role":"assistant","content":[{"type":"text","text":"What is left is the printer, which comes next."}],"stop_reason":"end_turn","usage":{"input_tokens":4,"cache_read_input_tokens":40000,"cache_creation_input_tokens":900,"output_tokens":300}},"requestId":"req_last","type":"assistant","uuid":"last","timestamp":"2026-11-21T09:00:02.000Z"}` + "\n"

// hollow makes a transcript of so many bytes of which only the last megabyte is
// there, the rest is a hole that takes no room on the disk.
func (s *liveSession) hollow(size int64) (string, error) {
	return s.write(size, max(0, size-1<<20))
}

// full makes a transcript of so many bytes.
func (s *liveSession) full(size int64) (string, error) { return s.write(size, 0) }

// write makes a transcript that begins with a hole.
func (s *liveSession) write(size, hole int64) (path string, err error) {
	f, err := os.CreateTemp(filepath.Dir(s.root), "transcript-*.jsonl")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Seek(hole, io.SeekStart); err != nil {
		return "", err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	for at, n := hole, 0; at < size-int64(len(lastWords)); n++ {
		k, err := out.WriteString(exchange(n))
		if err != nil {
			return "", err
		}
		at += int64(k)
	}
	if _, err := out.WriteString(lastWords); err != nil {
		return "", err
	}
	return f.Name(), out.Flush()
}
