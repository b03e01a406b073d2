package install

import (
	"bytes"
	"errors"
)

// Plan puts what is wanted into the content of a settings file and tells how the
// file was before, for Remove. nil stands for a file that is not there. was is
// what an earlier Plan told, or nil. Entries of ours that are there already are
// replaced where they stand, those that are no longer wanted go; where all is as
// wanted, after is file. An error says where and why the file cannot be edited.
func Plan(file []byte, want Wanted, was *Origin) (after []byte, origin *Origin, err error) {
	after, origin, err = edit(file, want, was)
	if err != nil || bytes.Equal(after, file) {
		return after, origin, err
	}
	return after, origin, reversible(file, after, was, origin)
}

// reversible refuses an edit that could not be undone to the byte: better no
// hook than a file that is not as it was.
func reversible(file, after []byte, was, origin *Origin) error {
	clean, err := Remove(file, was)
	if err != nil {
		return err
	}
	back, err := Remove(after, origin)
	if err != nil {
		return err
	}
	if !bytes.Equal(back, clean) || (back == nil) != (clean == nil) {
		return errors.New("the entries could not be taken out again without a trace")
	}
	return nil
}

func edit(file []byte, want Wanted, was *Origin) ([]byte, *Origin, error) {
	e, err := newEditor(file)
	if err != nil {
		return nil, nil, err
	}
	e.begin(file, was)
	if want.Events != nil {
		e.dropUnwanted(want.Events.Names())
	}
	for _, event := range want.Events {
		if err := e.event(event); err != nil {
			return nil, nil, err
		}
	}
	for _, v := range want.Env {
		if err := e.variable(v); err != nil {
			return nil, nil, err
		}
	}
	if !e.changed {
		return file, e.origin, nil
	}
	return e.pack(), e.origin, nil
}

// Remove takes out of a settings file what Plan put in. With its origin, the
// rest is as it was, to the byte: nil means that there was no file. Without (nil),
// it takes out the hooks that are ours and the lists that become empty by that.
func Remove(file []byte, was *Origin) ([]byte, error) {
	e, err := newEditor(file)
	if err != nil {
		return nil, err
	}
	if e.origin = was.clone(); was == nil {
		e.origin = &Origin{Unknown: true}
	}
	e.dropUnwanted(nil)
	e.dropVariables()
	switch {
	case !e.changed:
		return file, nil
	case list{object: e.root}.bare() && e.origin.Missing:
		return nil, nil
	case list{object: e.root}.bare() && e.origin.Blank != nil:
		return []byte(*e.origin.Blank), nil
	}
	return e.pack(), nil
}
