package hook

import (
	"encoding/json"

	"github.com/pawl-dev/pawl/internal/record"
)

// receiveMessages receives the messages in the inbox, as the runner does.
func receiveMessages(s *lease) error {
	msgs, err := s.loop.Drain()
	if err != nil {
		return err
	}
	for _, m := range msgs {
		var body record.Message
		if err := json.Unmarshal(m.Body, &body); err != nil {
			return err
		}
		if e, ok := body.Event(); ok {
			e.ID = m.ID
			if err := s.step(e); err != nil {
				return err
			}
		}
		if err := s.flush(); err != nil {
			return err
		}
		if err := s.loop.Ack(m); err != nil {
			return err
		}
	}
	return nil
}
