package notify

import (
	"bufio"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/notice"
)

// mailServer simulates a mail server. It answers recipients with the codes in turn, and then always
// with the last one.
func mailServer(t *testing.T, codes ...string) (address string, got chan string, tries *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // of a test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	got, tries = make(chan string, 5), new(atomic.Int64)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go speakSMTP(conn, codes[min(int(tries.Add(1))-1, len(codes)-1)], got)
		}
	}()
	return "smtp://ada:s3cr3t-token@" + l.Addr().String() + "?from=Pawl%20%3Cpawl@example.com%3E&to=ada@example.com", got, tries
}

func speakSMTP(conn net.Conn, code string, got chan<- string) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	say := func(line string) { fmt.Fprint(conn, line+"\r\n") }
	say("220 here")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch verb := strings.ToUpper(line[:4]); verb {
		case "EHLO":
			say("250-here\r\n250 AUTH PLAIN")
		case "AUTH":
			say("235 welcome")
		case "RCPT":
			say(code + " s3cr3t-token")
		case "DATA":
			say("354 continue")
			var text strings.Builder
			for line, err = in.ReadString('\n'); err == nil && line != ".\r\n"; line, err = in.ReadString('\n') {
				text.WriteString(strings.TrimPrefix(line, "."))
			}
			got <- text.String()
			say("250 kept")
		default:
			say("250 fine")
		}
	}
}

func TestEmailIsSent(t *testing.T) {
	t.Parallel()
	address, got, tries := mailServer(t, "421", "250")
	n := sample()
	n.Title, n.Text = "ünd\r\nBcc: eve@example.com", strings.Repeat("ä long line ", 20)+"\n.\nQUIT"
	s := sender(address)
	if failed := s.Send(t.Context(), n, []notice.Receiver{{Kind: notice.Email, Arg: "env:URL"}}); len(failed) > 0 {
		t.Fatal(failed)
	}
	m, err := mail.ReadMessage(strings.NewReader(<-got))
	if err != nil {
		t.Fatal(err)
	}
	subject, _ := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	body, _ := io.ReadAll(quotedprintable.NewReader(m.Body))
	if subject != "ünd Bcc: eve@example.com" || m.Header.Get("Bcc") != "" || m.Header.Get("To") != "<ada@example.com>" {
		t.Errorf("%q %v", subject, m.Header)
	}
	if text := strings.ReplaceAll(string(body), "\r\n", "\n"); !strings.HasSuffix(text, "ä long line\n.\nQUIT\n") || tries.Load() != 2 {
		t.Errorf("%q after %d tries", text, tries.Load())
	}
}

// A rejection is not retried, a timeout is retried a few times, and no error contains the password.
func TestEmailIsRetriedOnTimeoutsOnly(t *testing.T) {
	t.Parallel()
	address, _, tries := mailServer(t, "550")
	r := []notice.Receiver{{Kind: notice.Email, Arg: "env:URL"}}
	checkFailure(t, sender(address).Send(t.Context(), sample(), r), "127.0.0.1: 550 \"[redacted]\"")
	if tries.Load() != 1 {
		t.Errorf("%d tries", tries.Load())
	}
	checkFailure(t, sender("smtp://ada:s3cr3t-token@127.0.0.1:1?from=a@b.c&to=d@e.f").Send(t.Context(), sample(), r), "(3 attempts)")
	for _, wrong := range []string{"https://x/y", "smtp://host?from=a@b.c", "smtp://host?from=a@b.c&to=d", "smtp://?from=a@b.c&to=d@e.f"} {
		if err := sender(wrong).Check(r[0]); err == nil || strings.Contains(err.Error(), "x/y") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// The title is spoken by the first program that is installed, and is never an option of it.
func TestTitleIsSpoken(t *testing.T) {
	n := sample()
	n.Title = "--rate=1 · done"
	for _, program := range []string{"say", "spd-say", "espeak-ng"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\nfor a; do last=$a; done\nprintf %s \"$last\" > "+filepath.Join(dir, "said")+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir)
		if failed := (Sender{}).Send(t.Context(), n, []notice.Receiver{{Kind: notice.Speech}}); len(failed) > 0 {
			t.Fatal(failed)
		}
		if said, err := os.ReadFile(filepath.Join(dir, "said")); string(said) != "rate=1 , done" {
			t.Errorf("%s says %q (%v)", program, said, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	checkFailure(t, (Sender{}).Send(t.Context(), n, []notice.Receiver{{Kind: notice.Speech}}), "neither say nor spd-say nor espeak-ng")
}
