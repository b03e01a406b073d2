package page

import (
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"
)

const (
	maxStreams        = 32 // streams at a time
	streamLifetime    = time.Hour
	pollInterval      = time.Second
	heartbeatInterval = 15 * time.Second
	writeTimeout      = 10 * time.Second // for one event
)

// serveEvents sends the browser an event when the page has changed (server-sent events). The browser
// then loads the page again.
func (s *server) serveEvents(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("loop")
	if id != "" && !isLoopID(id) {
		http.Error(w, "there is no such loop", http.StatusNotFound)
		return
	}
	select {
	case s.streamSlots <- struct{}{}:
		defer func() { <-s.streamSlots }()
	default:
		w.Header().Set("Retry-After", "30")
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) bool {
		if out.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil {
			return false
		}
		if _, err := fmt.Fprint(w, text); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	last, err := s.journalStamp(id)
	if err != nil || !send("retry: 3000\n\n") {
		return
	}
	tick, end, silent := time.NewTicker(pollInterval), time.After(streamLifetime), time.Now()
	defer tick.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-end: // the browser begins another one
			return
		case <-tick.C:
		}
		now, err := s.journalStamp(id)
		text := ""
		switch {
		case err != nil:
			return
		case now != last:
			text = "data: changed\n\n"
		case time.Since(silent) > heartbeatInterval:
			text = "event: alive\ndata:\n\n"
		default:
			continue
		}
		if last, silent = now, time.Now(); !send(text) {
			return
		}
	}
}

// journalStamp returns the Source's stamp. It caches the stamp for a moment, since many pages may be
// open.
func (s *server) journalStamp(id string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if kept, ok := s.stamps[id]; ok && now.Sub(kept.at) < pollInterval*9/10 {
		return kept.text, nil
	}
	text, err := s.Source.Stamp(id)
	if err != nil {
		return "", fmt.Errorf("look for changes: %w", err)
	}
	if len(s.stamps) > 2*maxStreams {
		clear(s.stamps)
	}
	s.stamps[id] = stamp{text, now}
	return text, nil
}

// isLoopID reports whether a text can be the id of a loop: it is part of a path.
func isLoopID(id string) bool {
	if id == "" || len(id) > 80 {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' })
}

// loadDetail reads the loop that a request names, as Source.Loop does.
func (s *server) loadDetail(r *http.Request, attempt int) (Detail, error) {
	id := r.PathValue("id")
	if !isLoopID(id) {
		return Detail{}, fmt.Errorf("find loop: %w", fs.ErrNotExist)
	}
	d, err := s.Source.Loop(r.Context(), id, attempt)
	if err != nil {
		return Detail{}, fmt.Errorf("read loop %s: %w", id, err)
	}
	return d, nil
}
