package front

import (
	"encoding/binary"
	"errors"
	"io"
)

// Request is what a keeper is asked: one call of the hook.
type Request struct {
	ID     string // the same when the event is answered once more
	Args   []string
	Vars   []string // NAME=value, of the client
	Parent int      // process id of whoever started the hook
	Event  []byte
}

// Answer is what the hook prints, and its exit code.
type Answer struct {
	Code     int
	Out, Err []byte
}

// protocol is the first byte of a request: a keeper of another build is no keeper.
const protocol = 2

// Write sends the request.
func (r Request) Write(w io.Writer) error {
	b := appendBytes([]byte{protocol}, []byte(r.ID))
	b = appendStrings(b, r.Args)
	b = appendStrings(b, r.Vars)
	b = binary.AppendUvarint(b, uint64(max(r.Parent, 0)))
	return send(w, appendBytes(b, r.Event))
}

// ReadRequest takes a request as Write sends it.
func ReadRequest(in io.Reader) (r Request, err error) {
	m, err := receive(in)
	if m.number() != protocol {
		return r, errors.Join(err, errOdd)
	}
	r.ID = string(m.bytes())
	r.Args, r.Vars = m.strings(), m.strings()
	r.Parent, r.Event = int(m.number()), m.bytes() //nolint:gosec // bounded by message.number
	return r, errors.Join(err, m.err)
}

// Write sends the answer.
func (a Answer) Write(w io.Writer) error {
	return send(w, appendBytes(appendBytes([]byte{byte(a.Code)}, a.Out), a.Err))
}

// ReadAnswer takes an answer as Write sends it.
func ReadAnswer(in io.Reader) (a Answer, err error) {
	m, err := receive(in)
	if len(m.rest) > 0 {
		a.Code, m.rest = int(m.rest[0]), m.rest[1:]
	}
	a.Out, a.Err = m.bytes(), m.bytes()
	return a, errors.Join(err, m.err)
}

// A message is its length in four bytes, and then its parts, each with its length
// before it.

func send(w io.Writer, body []byte) error {
	whole := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body))) //nolint:gosec // eventMax bounds it
	_, err := w.Write(append(whole, body...))
	return err
}

const messageMax = eventMax + 4<<20

var errOdd = errors.New("not a message of pawl-hook's")

func receive(in io.Reader) (*message, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return &message{}, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > messageMax {
		return &message{}, errOdd
	}
	body := make([]byte, n)
	_, err := io.ReadFull(in, body)
	return &message{rest: body}, err
}

func appendStrings(b []byte, all []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(all)))
	for _, s := range all {
		b = appendBytes(b, []byte(s))
	}
	return b
}

func appendBytes(b, part []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(part))), part...)
}

// message is what is left of one while it is read.
type message struct {
	rest []byte
	err  error
}

func (m *message) number() uint64 {
	n, size := binary.Uvarint(m.rest)
	if size <= 0 || n > messageMax {
		m.err = errOdd
		return 0
	}
	m.rest = m.rest[size:]
	return n
}

func (m *message) bytes() []byte {
	n := m.number()
	if m.err != nil || n > uint64(len(m.rest)) {
		m.err = errOdd
		return nil
	}
	part := m.rest[:n]
	m.rest = m.rest[n:]
	return part
}

func (m *message) strings() []string {
	var all []string
	for n := m.number(); n > 0 && m.err == nil; n-- {
		all = append(all, string(m.bytes()))
	}
	return all
}
