package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Lines is the transport of a client on streams, one message per line. The SDK's transport ends at the
// first line that it cannot read. Lines answers such a line with an error, as JSON-RPC requires, and
// continues.
type Lines struct {
	In  io.Reader
	Out io.Writer // stays open
}

// maxLineBytes limits one message of the client.
const maxLineBytes = 1 << 20

// Connect starts reading.
func (l Lines) Connect(ctx context.Context) (mcp.Connection, error) {
	out := &lineWriter{w: l.Out}
	sound, sieve := io.Pipe()
	go func() {
		defer sieve.Close() // an input that fails has ended
		passJSONLines(l.In, sieve, out)
	}()
	c, err := (&mcp.IOTransport{Reader: sound, Writer: out, MaxLineLength: -1}).Connect(ctx)
	return tolerantConnection{c, out}, err
}

// passJSONLines passes on the lines that are JSON, and answers the others, until one of the
// streams ends.
func passJSONLines(in io.Reader, sound io.Writer, out *lineWriter) {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines)
		var failed error
		switch text := bytes.TrimSpace(line); {
		case errors.Is(err, errLineTooLong):
			err, failed = nil, out.writeError(jsonrpc.CodeInvalidRequest, "a message may have at most %d bytes", maxLineBytes)
		case len(text) == 0:
		case !json.Valid(text):
			failed = out.writeError(jsonrpc.CodeParseError, "the line is not JSON: a message is one JSON object per line")
		default:
			_, failed = sound.Write(append(text, '\n')) // fails when the server has ended
		}
		if err != nil || failed != nil {
			return
		}
	}
}

var errLineTooLong = errors.New("line too long")

// readLine reads a line. For a line that is too long, it returns errLineTooLong and drops it.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLineBytes; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long:
			return nil, errLineTooLong
		default:
			return line, err
		}
	}
}

// lineWriter lets two writers share a stream, a line at a time.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes whole lines.
func (m *lineWriter) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.w.Write(p)
}

// Close does nothing: the stream belongs to the caller.
func (*lineWriter) Close() error { return nil }

// writeError writes a JSON-RPC error for a message without a usable id.
func (m *lineWriter) writeError(code int64, format string, args ...any) error {
	data, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", nil, &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}})
	if err == nil {
		_, err = m.Write(append(data, '\n'))
	}
	return err
}

// tolerantConnection continues after JSON that is not a message.
type tolerantConnection struct {
	mcp.Connection
	out *lineWriter
}

// Read returns the next message. After an error of the SDK's connection it reads on, because the
// connection is already at the next message.
func (p tolerantConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := p.Connection.Read(ctx)
		if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) { // the last: a signal ended it
			return m, err
		}
		if err := p.out.writeError(jsonrpc.CodeInvalidRequest, "no message of the protocol: %v", err); err != nil {
			return nil, err
		}
	}
}
