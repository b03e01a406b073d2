package front

import (
	"encoding/binary"
	"errors"
	"io"
)

// Request is one call of the hook, as sent to the daemon.
type Request struct {
	ID     string // the same when the event is sent again
	Args   []string
	Vars   []string // the client's variables, NAME=value
	Parent int      // process id of the caller of the hook
	Event  []byte
}

// Answer is what the hook prints, and its exit code.
type Answer struct {
	Code     int
	Out, Err []byte
}

// protocolVersion is the first byte of a request. A daemon with another version does not
// answer.
const protocolVersion = 2

// Write sends the request.
func (r Request) Write(w io.Writer) error {
	b := appendBytes([]byte{protocolVersion}, []byte(r.ID))
	b = appendStrings(b, r.Args)
	b = appendStrings(b, r.Vars)
	b = binary.AppendUvarint(b, uint64(max(r.Parent, 0)))
	return writeMessage(w, appendBytes(b, r.Event))
}

// ReadRequest reads a request that Write sent. It returns errBadMessage for another
// protocol version.
func ReadRequest(in io.Reader) (r Request, err error) {
	m, err := readMessage(in)
	if m.number() != protocolVersion {
		return r, errors.Join(err, errBadMessage)
	}
	r.ID = string(m.bytes())
	r.Args, r.Vars = m.strings(), m.strings()
	r.Parent, r.Event = int(m.number()), m.bytes() //nolint:gosec // bounded by message.number
	return r, errors.Join(err, m.err)
}

// Write sends the answer.
func (a Answer) Write(w io.Writer) error {
	return writeMessage(w, appendBytes(appendBytes([]byte{byte(a.Code)}, a.Out), a.Err))
}

// ReadAnswer reads an answer that Write sent.
func ReadAnswer(in io.Reader) (a Answer, err error) {
	m, err := readMessage(in)
	if len(m.rest) > 0 {
		a.Code, m.rest = int(m.rest[0]), m.rest[1:]
	}
	a.Out, a.Err = m.bytes(), m.bytes()
	return a, errors.Join(err, m.err)
}

// writeMessage sends a message: its length in four bytes, then its parts, each after its length.
func writeMessage(w io.Writer, body []byte) error {
	whole := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body))) //nolint:gosec // eventMax bounds it
	_, err := w.Write(append(whole, body...))
	return err
}

const maxMessageBytes = maxEventBytes + 4<<20 // maxMessageBytes bounds a message: an event and its arguments.

var errBadMessage = errors.New("malformed pawl-hook message")

// readMessage reads a message that writeMessage sent.
func readMessage(in io.Reader) (*messageReader, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return &messageReader{}, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxMessageBytes {
		return &messageReader{}, errBadMessage
	}
	body := make([]byte, n)
	_, err := io.ReadFull(in, body)
	return &messageReader{rest: body}, err
}

// appendStrings appends the number of strings and each string.
func appendStrings(b []byte, all []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(all)))
	for _, s := range all {
		b = appendBytes(b, []byte(s))
	}
	return b
}

// appendBytes appends a part after its length.
func appendBytes(b, part []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(part))), part...)
}

// messageReader reads the parts of a message in order. After an error it returns zero
// values.
type messageReader struct {
	rest []byte
	err  error
}

// number reads a number of at most maxMessageBytes.
func (m *messageReader) number() uint64 {
	n, size := binary.Uvarint(m.rest)
	if size <= 0 || n > maxMessageBytes {
		m.err = errBadMessage
		return 0
	}
	m.rest = m.rest[size:]
	return n
}

// bytes reads a part.
func (m *messageReader) bytes() []byte {
	n := m.number()
	if m.err != nil || n > uint64(len(m.rest)) {
		m.err = errBadMessage
		return nil
	}
	part := m.rest[:n]
	m.rest = m.rest[n:]
	return part
}

// strings reads a list of strings.
func (m *messageReader) strings() []string {
	var all []string
	for n := m.number(); n > 0 && m.err == nil; n-- {
		all = append(all, string(m.bytes()))
	}
	return all
}
