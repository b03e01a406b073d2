package install

import (
	"bytes"
	"errors"
)

// Add adds entries to the content of a settings file and returns its origin for Remove. nil means
// no file. was is the origin from an earlier Add, or nil. Add replaces existing entries of ours in
// place and removes unwanted ones. If nothing changes, after equals file. An error says where and
// why the file cannot be edited.
func Add(file []byte, want Entries, was *Origin) (after []byte, origin *Origin, err error) {
	after, origin, err = edit(file, want, was)
	if err != nil || bytes.Equal(after, file) {
		return after, origin, err
	}
	return after, origin, checkReversible(file, after, was, origin)
}

// checkReversible returns an error if an edit could not be undone to the byte: no hook is better
// than a file that cannot be restored.
func checkReversible(file, after []byte, was, origin *Origin) error {
	clean, err := Remove(file, was)
	if err != nil {
		return err
	}
	back, err := Remove(after, origin)
	if err != nil {
		return err
	}
	if !bytes.Equal(back, clean) || (back == nil) != (clean == nil) {
		return errors.New("the entries could not be removed again without a trace")
	}
	return nil
}

func edit(file []byte, want Entries, was *Origin) ([]byte, *Origin, error) {
	e, err := newEditor(file)
	if err != nil {
		return nil, nil, err
	}
	e.loadOrigin(file, was)
	if want.Events != nil {
		e.removeUnwantedHooks(want.Events.Names())
	}
	for _, event := range want.Events {
		if err := e.setEvent(event); err != nil {
			return nil, nil, err
		}
	}
	for _, v := range want.Env {
		if err := e.setVariable(v); err != nil {
			return nil, nil, err
		}
	}
	if !e.changed {
		return file, e.origin, nil
	}
	return e.pack(), e.origin, nil
}

// Remove removes from a settings file what Add added. With its origin, it restores every byte; nil
// means that there was no file. Without an origin (nil), it removes our hooks and the lists that
// become empty.
func Remove(file []byte, was *Origin) ([]byte, error) {
	e, err := newEditor(file)
	if err != nil {
		return nil, err
	}
	if e.origin = was.clone(); was == nil {
		e.origin = &Origin{Unknown: true}
	}
	e.removeUnwantedHooks(nil)
	e.removeVariables()
	switch {
	case !e.changed:
		return file, nil
	case list{object: e.root}.isBare() && e.origin.Missing:
		return nil, nil
	case list{object: e.root}.isBare() && e.origin.Blank != nil:
		return []byte(*e.origin.Blank), nil
	}
	return e.pack(), nil
}
