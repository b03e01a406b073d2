package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/failure"
)

// mailbox is an e-mail address with its server:
// smtp://USER:PASSWORD@HOST:587?from=ADDRESS&to=ADDRESS, or smtps:// for a server that expects TLS
// from the first byte.
type mailbox struct {
	u        *url.URL
	from, to *mail.Address
}

// mailbox reads the address of an e-mail receiver. Errors do not contain it.
func (s Sender) mailbox(r notice.Receiver) (mailbox, error) {
	text, err := s.value(r.Arg)
	if err != nil {
		return mailbox{}, err
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" {
		return mailbox{}, fmt.Errorf("%s holds no address such as smtp://user:password@host:587?from=a@host&to=b@host", r.Arg)
	}
	from, fromErr := mail.ParseAddress(u.Query().Get("from"))
	to, toErr := mail.ParseAddress(u.Query().Get("to"))
	if fromErr != nil || toErr != nil {
		return mailbox{}, fmt.Errorf("%s needs from and to, each an e-mail address", r.Arg)
	}
	return mailbox{u, from, to}, nil
}

// sendMail sends a notice as an e-mail.
func (s Sender) sendMail(ctx context.Context, n notice.Notice, r notice.Receiver) error {
	m, err := s.mailbox(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	if err := m.send(ctx, n); err != nil {
		reply, refused := errors.AsType[*textproto.Error](err)
		err = fmt.Errorf("%s: %s", m.u.Hostname(), hideAddress(err.Error(), m.u))
		if refused && reply.Code >= 500 {
			return err
		}
		return &failure.Temporary{Err: err}
	}
	return nil
}

// send sends the e-mail. A password is only sent over TLS, or to this machine.
func (m mailbox) send(ctx context.Context, n notice.Notice) error {
	host := m.u.Hostname()
	port := m.u.Port()
	if port == "" {
		port = map[string]string{"smtp": "587", "smtps": "465"}[m.u.Scheme]
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	secure := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if m.u.Scheme == "smtps" {
		conn = tls.Client(conn, secure)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return err
	}
	if offered, _ := c.Extension("STARTTLS"); offered && m.u.Scheme == "smtp" {
		if err := c.StartTLS(secure); err != nil {
			return err
		}
	}
	if m.u.User != nil {
		password, _ := m.u.User.Password()
		if err := c.Auth(smtp.PlainAuth("", m.u.User.Username(), password, host)); err != nil {
			return err
		}
	}
	if err := errors.Join(c.Mail(m.from.Address), c.Rcpt(m.to.Address)); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(m.message(n)); err != nil {
		return err
	}
	err = w.Close()
	_ = c.Quit() // the server has the e-mail by now: a retry would send it twice
	return err
}

// message returns the e-mail. Text of a notice cannot add a header.
func (m mailbox) message(n notice.Notice) []byte {
	var b bytes.Buffer
	subject := strings.Join(strings.Fields(n.Title), " ")
	fmt.Fprintf(&b, "From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\n", m.from, m.to, mime.QEncoding.Encode("utf-8", subject), n.At.Format(time.RFC1123Z))
	b.WriteString("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
	body := quotedprintable.NewWriter(&b)
	_, _ = body.Write([]byte(n.Text + "\n")) // a write to memory cannot fail
	_ = body.Close()
	return b.Bytes()
}
