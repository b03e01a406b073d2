package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// messageTexts describes the messages of a state by their texts. Those delivered into a turn have a star.
// Those before the bar were read by the agent.
func messageTexts(s loop.State) string {
	var read, kept []string
	for _, m := range s.ReadMessages {
		read = append(read, m.Text)
	}
	for _, m := range s.Messages {
		text := m.Text
		if !m.Delivered.IsZero() {
			text += "*"
		}
		kept = append(kept, text)
	}
	return strings.Join(read, " ") + "|" + strings.Join(kept, " ")
}

// An urgent message goes into the current turn, after those before it. It counts as read when the turn
// ends.
func TestUrgentMessageIsDeliveredIntoCurrentTurn(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Kind: loop.Change})
	sc.checkpointed("turn 1 fresh first")
	tell := func(id string, now bool, want string) {
		t.Helper()
		sc.feed(loop.Event{ID: id, Payload: loop.MessageArrived{Text: id, Now: now}}, want)
	}
	tell("m1", false, "")
	tell("m2", true, "deliver")
	tell("m2", true, "") // the same message again
	sc.feed(loop.Event{Payload: loop.Delivered{MessageIDs: []string{"m1"}}}, "")
	tell("m3", false, "")
	if diff := cmp.Diff("|m1* m2 m3", messageTexts(sc.s)); diff != "" {
		t.Fatal(diff)
	}
	sc.turn("", "turn 2 continue no_claim") // the client did not say that it had the second
	if diff := cmp.Diff("m1|m2* m3*", messageTexts(sc.s)); diff != "" {
		t.Fatal(diff)
	}
	sc.checkNotes("m2", "m3")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "inspect")
	tell("m4", true, "") // no turn is under way
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, "turn 3 continue no_claim")
	if diff := cmp.Diff("m1 m2 m3|m4*", messageTexts(sc.s)); diff != "" {
		t.Error(diff)
	}
}

// A failed turn may not have read its messages, from the prompt or during the turn.
func TestMessagesOfFailedTurnAreRedelivered(t *testing.T) {
	t.Parallel()
	for name, dies := range map[string]func(sc *scenario){
		"the agent": func(sc *scenario) {
			sc.feed(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.Interrupted}}}, "turn 1 continue interrupted")
		},
		"the owner": func(sc *scenario) { sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "turn 1 continue interrupted") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := begin(t, loop.Policy{Kind: loop.Change})
			sc.checkpointed("turn 1 fresh first")
			sc.feed(loop.Event{ID: "m1", Payload: loop.MessageArrived{Text: "m1", Now: true}}, "deliver")
			sc.feed(loop.Event{Payload: loop.Delivered{MessageIDs: []string{"m1"}}}, "")
			dies(sc)
			if diff := cmp.Diff([]string{"m1"}, pending[loop.BeginTurn](sc).Notes); diff != "" || len(sc.s.ReadMessages) > 0 {
				t.Error(diff, sc.s.ReadMessages)
			}
		})
	}
}

// A prompt holds a limited number of messages; the others wait for the next.
func TestMessagesBeyondPromptLimitWait(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Kind: loop.Change})
	var sent, got []string
	for i := range 50 {
		sent = append(sent, fmt.Sprint(i))
		sc.feed(loop.Event{ID: sent[i], Payload: loop.MessageArrived{Text: sent[i]}}, "")
	}
	sc.checkpointed("turn 1 fresh first")
	for n := 2; len(sc.s.Messages) > 0 && n < 9; n++ {
		if notes := pending[loop.BeginTurn](sc).Notes; len(notes) <= 20 {
			got = append(got, notes...)
		}
		sc.turn("", fmt.Sprintf("turn %d continue no_claim", n))
	}
	if diff := cmp.Diff(sent, got); diff != "" {
		t.Error(diff)
	}
}

// sendMessage returns a message for a random walk, which may go into the current turn.
func (w *randomWalk) sendMessage() {
	w.feed(loop.Event{ID: fmt.Sprint("note-", w.events), Payload: loop.MessageArrived{Text: "note", Now: w.oneIn(2)}})
	var ids []string
	for _, m := range w.s.Undelivered() {
		ids = append(ids, m.ID)
	}
	w.feed(loop.Event{Payload: loop.Delivered{MessageIDs: ids[:w.r.IntN(len(ids)+1)]}})
}

// checkMessagesDelivered checks that a finished loop has delivered each message. Exceptions are a limit that
// leaves no turn, and a message after the end.
func (w *randomWalk) checkMessagesDelivered() {
	for _, m := range w.s.Unread() {
		if m.At.Before(w.s.EndedAt) && m.Delivered.IsZero() && w.s.CurrentLimit() == "" {
			w.t.Errorf("the loop ended before the agent had %+v: %+v", m, w.s)
		}
	}
}

// checkMessages checks that no message is lost, doubled or overtaken. A message counts as read only
// when a turn ends that had it.
func (w *randomWalk) checkMessages(before loop.State, e loop.Event) {
	was, kept := before.Messages, w.s.Messages
	for len(was) > 0 && (len(kept) == 0 || was[0].ID != kept[0].ID) {
		if e.Kind() != loop.KindTurnEnded || was[0].Delivered.IsZero() {
			w.t.Errorf("%s loses %+v", e.Kind(), was[0])
		}
		was = was[1:]
	}
	for i, m := range was {
		if i >= len(kept) || kept[i].ID != m.ID {
			w.t.Errorf("%s: %s is no longer in its place: %v", e.Kind(), m.ID, kept)
			return
		}
	}
	ids := map[string]bool{}
	for _, m := range kept {
		if ids[m.ID] {
			w.t.Errorf("%s doubles %s", e.Kind(), m.ID)
		}
		ids[m.ID] = true
	}
}
