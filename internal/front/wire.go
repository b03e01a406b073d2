package front

import (
	"encoding/binary"
	"errors"
	"io"
	"strconv"
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

// protocolVersion is the first part of a request. A daemon with another version does not
// answer.
const protocolVersion = "3"

// Write sends the request.
func (r Request) Write(w io.Writer) error {
	return writeMessage(w, []byte(protocolVersion), []byte(r.ID), encode(r.Args...), encode(r.Vars...), []byte(strconv.Itoa(r.Parent)), r.Event)
}

// ReadRequest reads a request that Write sent. It returns an error for another protocol
// version.
func ReadRequest(in io.Reader) (r Request, err error) {
	p, err := readMessage(in, 6)
	if err != nil || string(p[0]) != protocolVersion {
		return r, errors.Join(err, errBadMessage)
	}
	var errs [3]error
	r.ID, r.Event = string(p[1]), p[5]
	r.Args, errs[0] = decode[string](p[2])
	r.Vars, errs[1] = decode[string](p[3])
	r.Parent, errs[2] = strconv.Atoi(string(p[4]))
	return r, errors.Join(errs[:]...)
}

// Write sends the answer.
func (a Answer) Write(w io.Writer) error {
	return writeMessage(w, []byte{byte(a.Code)}, a.Out, a.Err)
}

// ReadAnswer reads an answer that Write sent.
func ReadAnswer(in io.Reader) (Answer, error) {
	p, err := readMessage(in, 3)
	if err != nil || len(p[0]) != 1 {
		return Answer{}, errors.Join(err, errBadMessage)
	}
	return Answer{Code: int(p[0][0]), Out: p[1], Err: p[2]}, nil
}

const maxMessageBytes = maxEventBytes + 4<<20 // maxMessageBytes bounds a message: an event and its arguments.

var errBadMessage = errors.New("malformed pawl-hook message")

// writeMessage sends a message: its length in four bytes, then its parts.
func writeMessage(w io.Writer, parts ...[]byte) error {
	body := encode(parts...)
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(body))) //nolint:gosec // maxEventBytes bounds the event, the system its arguments
	_, err := w.Write(append(head, body...))
	return err
}

// readMessage reads a message of so many parts that writeMessage sent.
func readMessage(in io.Reader, parts int) ([][]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxMessageBytes {
		return nil, errBadMessage
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, err
	}
	out, err := decode[[]byte](body)
	if len(out) != parts {
		err = errBadMessage
	}
	return out, err
}

// encode joins parts, each after its length.
func encode[T string | []byte](parts ...T) []byte {
	var out []byte
	for _, part := range parts {
		out = append(binary.AppendUvarint(out, uint64(len(part))), part...)
	}
	return out
}

// decode returns the parts that encode joined.
func decode[T string | []byte](data []byte) (parts []T, err error) {
	for len(data) > 0 {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > uint64(len(data)-size) {
			return nil, errBadMessage
		}
		parts, data = append(parts, T(data[size:][:n])), data[size:][n:]
	}
	return parts, nil
}
