package loop_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Walks choose the values that decide where a loop goes. Whatever else a payload has is filled in by
// reflection, so that a new field takes part in the walks without anyone thinking of it.

// decidedByWalk lists the fields that are not filled in, and why.
func decidedByWalk() map[string]string {
	const records, inspected, byMachine, earlier = "the checks compare it with what the walk did", "Inspect asks for it",
		"the machine sets it, no owner sends it", "only of tasks that an earlier loop did"
	return map[string]string{
		"Turn.ByUser": records, "Turn.Claim": records, "Usage.CostUSD": records,
		"Gates.Status": records, "Gates.Green": records, "Gates.Tree": records, "Gates.Purpose": records,
		"WorkResult.Evidence": records, "WorkResult.TestsChanged": records, "WorkResult.IfApproved": records, "WorkResult.Approved": records,
		"Limits.Iterations": records, "Limits.Duration": records, "Limits.CostUSD": records, "Limits.Tokens": records,
		"AgentFailed.Isolated": records, "TurnEnded.Isolated": records, "HandedOver.Failed": records, "HandedOver.To": records,
		"Inspection.Shallow": inspected, "Inspection.RejectedTests": records,
		"Policy.Approve": records, "Policy.Verify": records, "Policy.Gates": records, "Policy.Reviews": records, "Policy.InSession": records,
		"WorkResult.Accepted": byMachine, "WorkResult.Reviewed": byMachine,
		"Task.Status": records, "Task.DoneEarlier": records, "Task.ForMessage": byMachine, "Task.Rejected": byMachine, "Task.Undone": byMachine,
		"Task.SavedWork": byMachine, "Task.WorkKept": byMachine, "Task.LeftOut": earlier,
		"Question.Approve": byMachine, "Question.Answer": byMachine, "Question.Until": byMachine,
	}
}

// neverSent lists the fields of decidedByWalk that no event sets.
func neverSent() []string {
	return []string{
		"WorkResult.Accepted", "WorkResult.Reviewed", "Task.ForMessage", "Task.Rejected", "Task.Undone", "Task.SavedWork", "Task.WorkKept",
		"Question.Approve", "Question.Answer", "Question.Until",
	}
}

// words lists what strings are made of: tasks, files, and nonsense.
func (w *randomWalk) words() []string {
	return append(w.s.Tasks.IDs(func(loop.Task) bool { return true }), "a_test.go", "lib.go", "nonsense", w.randomTree())
}

func oneOf[T any](w *randomWalk, of ...T) reflect.Value {
	return reflect.ValueOf(of[w.r.IntN(len(of))])
}

// enum returns a value of a type with few values.
func (w *randomWalk) enum(of reflect.Type) (reflect.Value, bool) {
	switch of {
	case reflect.TypeFor[gate.Status]():
		return oneOf(w, gate.Pass, gate.Fail, gate.Unknown), true
	case reflect.TypeFor[gate.Evidence]():
		return oneOf(w, gate.Proven, gate.Unproven, gate.EvidenceUnknown), true
	case reflect.TypeFor[gate.Kind]():
		return oneOf(w, gate.ByCommand, gate.ByReview), true
	case reflect.TypeFor[loop.Class]():
		return oneOf(w, loop.Classes()...), true
	case reflect.TypeFor[loop.Outcome]():
		return oneOf(w, loop.Iterations, loop.Duration, loop.Budget, "nonsense"), true
	case reflect.TypeFor[loop.Owner]():
		return oneOf(w, loop.OwnerRunner, loop.OwnerSession), true
	case reflect.TypeFor[loop.TaskStatus]():
		return oneOf(w, loop.Open), true
	case reflect.TypeFor[plan.EditKind]():
		return oneOf(w, plan.Add, plan.Retitle, plan.Skip, plan.Retry, plan.Move, plan.Reopen, plan.Accept), true
	case reflect.TypeFor[time.Time]():
		return reflect.ValueOf(w.now.Add(time.Duration(w.r.IntN(120)-30) * time.Minute)), true
	case reflect.TypeFor[time.Duration]():
		return reflect.ValueOf(time.Duration(1+w.r.IntN(120)) * time.Minute), true
	}
	return reflect.Value{}, false
}

// random returns a random value of a type.
func (w *randomWalk) random(of reflect.Type) reflect.Value {
	if v, ok := w.enum(of); ok {
		return v
	}
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		words := w.words()
		v.SetString(words[w.r.IntN(len(words))])
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(1 + w.r.IntN(3)))
	case reflect.Float64:
		v.SetFloat(w.r.Float64())
	case reflect.Pointer:
		v.Set(reflect.New(of.Elem()))
		v.Elem().Set(w.random(of.Elem()))
	case reflect.Slice:
		for range 1 + w.r.IntN(2) {
			v.Set(reflect.Append(v, w.random(of.Elem())))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(of))
		v.SetMapIndex(w.random(of.Key()), w.random(of.Elem()))
	case reflect.Struct:
		w.fill(v)
		if t, isTask := reflect.TypeAssert[loop.Task](v); isTask {
			v.Set(reflect.ValueOf(w.plannedTask(t)))
		}
	default:
		w.t.Fatalf("no random %s", of)
	}
	return v
}

// plannedTask returns a task as a plan has it: a known or a new one, open or left out.
func (w *randomWalk) plannedTask(t loop.Task) loop.Task {
	if t.ID == "" || t.ID == loop.FinalTask || strings.HasPrefix(t.ID, "message") {
		t.ID = "t0"
	}
	if t.Wanted != "" {
		t.Wanted = gate.Unproven // all others want proven work
	}
	t = loop.Task{ID: t.ID, Title: t.Title, Priority: t.Priority, Optional: t.Optional, Wanted: t.Wanted, Status: loop.Open}
	if w.oneIn(6) {
		t.Status, t.LeftOut, t.Why = loop.Skipped, true, loop.RemovedFromPlan
	}
	return t
}

// fill sets fields of a struct that are empty, at random.
func (w *randomWalk) fill(v reflect.Value) {
	for i := range v.NumField() {
		f, at := v.Type().Field(i), v.Field(i)
		if _, decided := w.decided[fieldName(v.Type(), f)]; decided {
			continue
		}
		switch {
		case at.Kind() == reflect.Struct && at.Type() != reflect.TypeFor[time.Time]():
			w.fill(at)
		case at.Kind() == reflect.Pointer && !at.IsNil() && at.Elem().Kind() == reflect.Struct:
			copied := reflect.New(at.Type().Elem())
			copied.Elem().Set(at.Elem())
			at.Set(copied)
			w.fill(copied.Elem())
		case at.IsZero() && w.oneIn(3):
			at.Set(w.random(at.Type()))
		}
	}
}

func fieldName(of reflect.Type, f reflect.StructField) string { return of.Name() + "." + f.Name }

// filled returns the payload with some of its empty fields set.
func (w *randomWalk) filled(p loop.EventPayload) loop.EventPayload {
	v := reflect.New(reflect.TypeOf(p)).Elem()
	v.Set(reflect.ValueOf(p))
	w.fill(v)
	filled, _ := reflect.TypeAssert[loop.EventPayload](v)
	return filled
}

// recordFields records which fields of a value are set.
func recordFields(v reflect.Value, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			recordFields(v.Elem(), set)
		}
	case reflect.Slice:
		for i := range v.Len() {
			recordFields(v.Index(i), set)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).IsZero() && v.Type() != reflect.TypeFor[time.Time]() {
				set[fieldName(v.Type(), v.Type().Field(i))] = true
				recordFields(v.Field(i), set)
			}
		}
	}
}

// payloadFields returns the names of all fields that a value of this type can have.
func payloadFields(of reflect.Type, names map[string]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		payloadFields(of.Elem(), names)
	case reflect.Struct:
		for field := range of.Fields() {
			if name := fieldName(of, field); of != reflect.TypeFor[time.Time]() && !names[name] {
				names[name] = true
				payloadFields(field.Type, names)
			}
		}
	}
}

// checkFieldsSet checks that the walks set each field of each payload at least once.
func checkFieldsSet(t *testing.T, set map[string]bool) {
	t.Helper()
	names := map[string]bool{}
	for _, k := range loop.EventKinds() {
		payloadFields(reflect.TypeOf(emptyEvent(k).Payload), names)
	}
	var never []string
	for name := range names {
		if !set[name] && !slices.Contains(neverSent(), name) {
			never = append(never, name)
		}
	}
	slices.Sort(never)
	if len(never) > 0 {
		t.Errorf("no walk sets %d of %d fields: %s", len(never), len(names), strings.Join(never, " "))
	}
}
