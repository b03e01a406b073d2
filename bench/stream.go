package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/claude"
	"github.com/pawl-dev/pawl/internal/redact"
)

// floodName is the variable that makes this program a client of the claude
// agent which answers its first prompt with so many bytes of events.
const floodName = "PAWL_BENCH_FLOOD"

// stream measures the memory of a process that supervises a client with a long
// event stream, against that of one with a sixteenth of it: flat, and little.
func stream(ctx context.Context, l *lab) (outcome, error) {
	const bound = 40 << 20
	var peaks []int64
	for _, size := range []int64{l.stream / 16, l.stream} {
		p := process{
			env:  []string{floodName + "=", "PAWL_BENCH_STREAM=" + strconv.FormatInt(size, 10)},
			argv: []string{l.self, "-as", "supervise", l.dir},
		}
		out, _, err := p.run(ctx)
		if err != nil {
			return outcome{}, err
		}
		peak, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
		if err != nil {
			return outcome{}, err
		}
		peaks = append(peaks, peak)
	}
	return outcome{
		reference: megabytes(peaks[0]),
		measured:  megabytes(peaks[1]),
		result:    fmt.Sprintf("%.2f ×", float64(peaks[1])/float64(peaks[0])),
		ok:        peaks[1] <= bound,
	}, nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }

// supervise runs one turn with a flood and prints the most memory it took.
func supervise(ctx context.Context, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log := filepath.Join(dir, "stream.jsonl.gz")
	defer os.Remove(log)
	s, err := claude.Agent{Command: self}.Start(ctx, agent.Options{
		Dir: dir, Marker: "bench", LogPath: log, Redact: redact.New(nil),
		Env: map[string]string{floodName: os.Getenv("PAWL_BENCH_STREAM")},
	})
	if err != nil {
		return err
	}
	defer s.Close()
	result, err := s.Turn(ctx, agent.Turn{Prompt: "flood", IdleTimeout: time.Minute}, func(agent.Event) {})
	if err != nil {
		return err
	}
	if result.Failure != nil || result.Text != "flooded" {
		return fmt.Errorf("the turn ended otherwise: %+v, text %q", result.Failure, result.Text)
	}
	peak, err := peakMemory()
	if err != nil {
		return err
	}
	fmt.Println(peak)
	return nil
}

// peakMemory is the most that this process had resident, in bytes. (The figure
// of wait4 would include the process that started this one.)
func peakMemory() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kb int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kb); err != nil {
		return 0, fmt.Errorf("read VmHWM: %w", err)
	}
	return kb << 10, nil
}

// flood is the client: it speaks the stream-json protocol on stdin and stdout.
func flood(size int64) error {
	out := bufio.NewWriter(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var l struct {
			Type      string `json:"type"`
			RequestID string `json:"request_id"`
		}
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return err
		}
		switch l.Type {
		case "control_request":
			fmt.Fprintf(out, `{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`+"\n", l.RequestID)
		case "user":
			pour(out, size)
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return in.Err()
}

// pour writes a turn: what an agent says, calls and gets back, over and over,
// with a tool result of 5 MB now and then.
func pour(out io.Writer, size int64) {
	text := strings.Repeat("All work and no play. ", 100)
	small := fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":%q}]},"session_id":"s"}`+"\n", strings.Repeat(text, 10))
	large := strings.Replace(small, text, strings.Repeat(text, 5<<20/len(text)), 1)
	fmt.Fprint(out, `{"type":"system","subtype":"init","session_id":"s","model":"m","claude_code_version":"2.1.332"}`+"\n")
	written := int64(0)
	for i := 0; written < size; i++ {
		result := small
		if i%100 == 99 {
			result = large
		}
		for _, line := range []string{
			fmt.Sprintf(`{"type":"assistant","session_id":"s","message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":%q}],"usage":{"input_tokens":1,"output_tokens":1}}}`+"\n", i, text),
			fmt.Sprintf(`{"type":"assistant","session_id":"s","message":{"id":"m%d","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"f%d"}}],"usage":{"input_tokens":1,"output_tokens":1}}}`+"\n", i, i),
			result,
		} {
			n, _ := io.WriteString(out, line)
			written += int64(n)
		}
	}
	fmt.Fprint(out, `{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"flooded","session_id":"s","num_turns":1,"total_cost_usd":0.01,"modelUsage":{}}`+"\n")
}
