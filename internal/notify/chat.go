package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// MessageRef identifies a message in a chat, by the ids of the service.
type MessageRef struct{ Chat, Message string }

// postMessage is the method with which a Slack bot writes. Other addresses are webhooks. They
// return no message id, so replies cannot be read.
const postMessage = "chat.postMessage"

// isBot reports whether an address belongs to a bot, which can read replies.
func isBot(kind notice.Kind, u *url.URL) bool {
	return kind == notice.Telegram || kind == notice.Slack && path.Base(u.Path) == postMessage
}

// apiReply is the response of a chat service. Each service sets some of the fields.
type apiReply struct {
	OK          *bool           `json:"ok"`
	Error       string          `json:"error"`       // Slack
	Description string          `json:"description"` // Telegram
	Result      json.RawMessage `json:"result"`      // Telegram
	Parameters  struct {
		RetryAfter int `json:"retry_after"` // seconds
	} `json:"parameters"`
	Channel  string         `json:"channel"` // Slack
	TS       string         `json:"ts"`
	Messages []slackMessage `json:"messages"`
}

// call calls a method of the API at an address. Without a name in m it calls the method in the
// address.
func (s Sender) call(ctx context.Context, kind notice.Kind, u *url.URL, m method) (apiReply, error) {
	q, err := m.request(ctx, kind, u)
	if err != nil {
		return apiReply{}, fmt.Errorf("make the request to %s: %s", u.Host, hideAddress(err.Error(), u))
	}
	body, err := s.do(q, u, cmp.Or(m.timeout, attemptTimeout))
	if err != nil {
		return apiReply{}, err
	}
	var reply apiReply
	if err := json.Unmarshal(body, &reply); err != nil || reply.OK == nil {
		return reply, &unreadableError{u.Host}
	}
	if !*reply.OK {
		return reply, fmt.Errorf("%s refuses: %s", u.Host, plan.OneLine(hideAddress(cmp.Or(reply.Error, reply.Description), u), 160))
	}
	return reply, nil
}

// unreadableError means that a response does not have the service's format.
type unreadableError struct{ host string }

func (e *unreadableError) Error() string { return e.host + " answers something else than expected" }

// method is a method of a chat service's API with its arguments.
type method struct {
	name    string
	fields  map[string]any
	timeout time.Duration // 0 = attemptTimeout
}

// request returns the HTTP request. Telegram accepts JSON for all methods, Slack only forms.
func (m method) request(ctx context.Context, kind notice.Kind, u *url.URL) (*http.Request, error) {
	at := *u
	at.RawQuery, at.Fragment = "", ""
	if m.name != "" {
		at.Path, at.RawPath = path.Join(path.Dir(u.Path), m.name), ""
	}
	if kind == notice.Telegram {
		data, err := json.Marshal(m.fields)
		if err != nil {
			return nil, err
		}
		return jsonRequest(ctx, at.String(), data)
	}
	form := url.Values{}
	for name, value := range m.fields {
		form.Set(name, fmt.Sprint(value))
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), strings.NewReader(form.Encode()))
	if err == nil {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		q.Header.Set("Authorization", "Bearer "+u.Query().Get("token"))
	}
	return q, err
}

func jsonRequest(ctx context.Context, address string, data []byte) (*http.Request, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(data))
	if err == nil {
		q.Header.Set("Content-Type", "application/json")
	}
	return q, err
}

// postToChat sends a notice as a bot, and reports the message's Place.
func (s Sender) postToChat(ctx context.Context, n notice.Notice, r notice.Receiver, u *url.URL) error {
	text := n.Title + "\n" + n.Text
	asks := n.IsAnswerable() && s.AnswersBy != nil && len(s.AnswersBy(r)) > 0
	if asks {
		text += "\n" + howToAnswer(n)
	}
	fields := chatFields(r.Kind, u, text)
	if asks && r.Kind == notice.Telegram {
		fields["reply_markup"] = buttons(n)
	}
	reply, err := s.call(ctx, r.Kind, u, method{fields: fields})
	if _, unreadable := err.(*unreadableError); unreadable { //nolint:errorlint // it is sent; where is not known
		return nil
	}
	if err == nil && asks && s.OnSent != nil {
		if at := reply.messageRef(r.Kind); at.Message != "" {
			s.OnSent(r, at)
		}
	}
	return err
}

// chatFields returns the fields of a message: its text, and the query of the user's address.
func chatFields(kind notice.Kind, u *url.URL, text string) map[string]any {
	fields := map[string]any{}
	for name, values := range u.Query() {
		fields[name] = values[0] // chat_id or channel, and other parameters that the user added
	}
	delete(fields, "token") // Slack's token is in a header
	fields["text"] = text
	if kind == notice.Slack {
		fields["text"] = markup.Replace(text)
	}
	return fields
}

// howToAnswer returns the instruction how to reply.
func howToAnswer(n notice.Notice) string {
	switch {
	case n.Event == notice.Ended:
		return `Reply "yes" to this message to approve the changed tests: ` + plan.OneLine(strings.Join(n.Tests, ", "), 500)
	case asksApproval(n):
		return `Reply "yes" to this message to approve. Any other reply does not approve, and tells the agent why.`
	}
	return "Reply to this message to answer."
}

// asksApproval reports whether the notice asks for an approval instead of an answer.
func asksApproval(n notice.Notice) bool { return n.Question == nil || n.Question.Approve != "" }

// buttons returns the keyboard that Telegram shows below a question, with its suggested answers.
func buttons(n notice.Notice) any {
	type button struct {
		Text string `json:"text"`
		Data string `json:"callback_data"`
	}
	var rows [][]button
	switch {
	case n.Event == notice.Ended: // committed changes are approved or stay as they are
		rows = [][]button{{{"Approve", "yes"}}}
	case asksApproval(n):
		rows = [][]button{{{"Approve", "yes"}, {"Do not approve", "no"}}}
	default:
		for i, choice := range n.Question.Choices {
			rows = append(rows, []button{{plan.OneLine(choice, 60), strconv.Itoa(i + 1)}})
		}
	}
	if rows == nil {
		return map[string]any{"force_reply": true}
	}
	return map[string]any{"inline_keyboard": rows}
}

// messageRef returns the ids of the sent message.
func (a apiReply) messageRef(kind notice.Kind) MessageRef {
	if kind == notice.Slack {
		return MessageRef{a.Channel, a.TS}
	}
	var m telegramMessage
	if json.Unmarshal(a.Result, &m) != nil || m.ID == 0 {
		return MessageRef{}
	}
	return m.messageRef()
}
