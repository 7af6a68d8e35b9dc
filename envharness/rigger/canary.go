package rigger

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/throughline-go/throughline/envharness"
)

// A canary is put into the state of a base, in a public field and in a graded one, neither of which the base shows. Nothing that is shown
// may depend on it.
type canary struct {
	public, graded string // values; the graded one only where the base says what is graded
	tail           []byte // what the state has more, before its last brace
	fields         [2]string

	mu     sync.Mutex
	states []envharness.State // that were read, without the canary
}

// newCanary draws one. Two of a task with different numbers have the same fields, and different values in them.
func newCanary(task envharness.Task, number uint64) *canary {
	word := func(name string, n uint64) string {
		var b [8]byte
		seed := uint64(0)
		if task.Seed != nil {
			seed = *task.Seed
		}
		rng := envharness.RandStream(seed, "rigger/canary/"+task.ID+"/"+name, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return "k" + hex.EncodeToString(b[:])
	}
	c := &canary{public: word("public", number), graded: word("graded", number), fields: [2]string{word("field", 0), word("field", 1)}}
	c.tail = []byte(`"` + c.fields[0] + `":"` + c.public + `","` + c.fields[1] + `":"` + c.graded + `"`)
	return c
}

// world returns the world with the canary in it. Its verifier sees none of it.
func (c *canary) world(w envharness.World) envharness.World {
	open, verifier := w.New, w.Verifier
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := open(ctx)
		if err != nil || env == nil {
			return env, err
		}
		stater, ok := envharness.As[envharness.Stater](env)
		if !ok {
			return env, nil // it has no state that could be shown
		}
		caged := &canaryBase{env, stater, c}
		if d, ok := envharness.As[envharness.Describer](env); ok {
			return &describedCanaryBase{caged, d}, nil
		}
		return caged, nil
	}
	w.Verifier = envharness.VerifierFunc(func(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
		e.Start, e.End = c.without(e.Start), c.without(e.End)
		return verifier.Verify(ctx, e)
	})
	return w
}

// with puts the canary into a state.
func (c *canary) with(s envharness.State) envharness.State {
	end := bytes.LastIndexByte(s, '}')
	if end < 0 {
		return s // the harness says what is wrong with it
	}
	out := slices.Clone(s[:end])
	if t := bytes.TrimSpace(out); len(t) > 0 && t[len(t)-1] != '{' {
		out = append(out, ',')
	}
	out = append(out, c.tail...)
	return append(out, s[end:]...)
}

// without takes it out again.
func (c *canary) without(s envharness.State) envharness.State {
	at := bytes.LastIndex(s, c.tail)
	if at < 0 {
		return s
	}
	out := slices.Clone(s[:at])
	if t := bytes.TrimRight(out, " \t\r\n"); len(t) > 0 && t[len(t)-1] == ',' {
		out = t[:len(t)-1]
	}
	return append(out, s[at+len(c.tail):]...)
}

// sings reports whether a text holds a value of the canary, whatever the case of its letters.
func (c *canary) sings(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, c.public) || strings.Contains(text, c.graded)
}

// seen returns the states that were read.
func (c *canary) seen() []envharness.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.states)
}

// forget begins a new episode.
func (c *canary) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states = nil
}

// canaryBase is a base with a canary in its state.
type canaryBase struct {
	envharness.Environment
	base   envharness.Stater
	canary *canary
}

func (b *canaryBase) Unwrap() envharness.Environment { return b.Environment }

func (b *canaryBase) State(ctx context.Context) (envharness.State, error) {
	s, err := b.base.State(ctx)
	if err != nil {
		return nil, err
	}
	b.canary.mu.Lock()
	defer b.canary.mu.Unlock()
	b.canary.states = append(b.canary.states, slices.Clone(s))
	return b.canary.with(s), nil
}

// describedCanaryBase is one that says what is graded.
type describedCanaryBase struct {
	*canaryBase
	base envharness.Describer
}

func (b *describedCanaryBase) Describe() envharness.Description {
	d := b.base.Describe()
	d.Graded = append(slices.Clone(d.Graded), b.canary.fields[1])
	return d
}

// fieldsOf reads a state.
func fieldsOf(s envharness.State) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(s, &fields) != nil {
		return nil
	}
	return fields
}
