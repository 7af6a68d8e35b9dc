package vector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

const (
	defaultStepTimeout = time.Minute

	// grace is how long foreign code has to return after its context was cancelled, and once more after Close.
	grace = time.Second
)

// A Mode says what a slot does when its episode has ended.
type Mode uint8

// The modes; the package comment has the table.
const (
	NextStep Mode = iota // the next call resets the slot and ignores its action
	SameStep             // the call that ends an episode begins the next one
	Disabled             // the caller resets the slot
)

var modeNames = [...]string{"NextStep", "SameStep", "Disabled"}

// String returns the name of the constant.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// MarshalText writes the name that String returns.
func (m Mode) MarshalText() ([]byte, error) {
	if int(m) >= len(modeNames) {
		return nil, fmt.Errorf("vector: mode %d is none of %q", uint8(m), modeNames)
	}
	return []byte(modeNames[m]), nil
}

// UnmarshalText reads such a name and refuses any other.
func (m *Mode) UnmarshalText(text []byte) error {
	i := slices.Index(modeNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("vector: mode %q is none of %q", text, modeNames)
	}
	*m = Mode(i)
	return nil
}

// Options adjusts [New]. A nil *Options equals &Options{}.
type Options struct {
	Mode     Mode // what follows the end of an episode; zero means NextStep
	Parallel int  // slots stepped at once; zero means 1, more than the slots as many as there are
	// Seed is the root of the seeds of all slots that nobody gave one; see the package comment.
	Seed uint64
	// StepTimeout bounds each reset, with the opening of the environment and the setup in it, each step, and each closing. A verdict,
	// which may replay the episode, gets it three times and once more for every turn. Zero means a minute, negative no bound.
	StepTimeout time.Duration
	// Next says what to begin in a slot that resets itself, and in a Reset without options. Episode counts those begun in the slot since
	// the last Reset by the caller, which is number 0: with tasks[(slot+n*episode)%len(tasks)] the slots share a list of tasks whatever
	// the order in which they come to an end. A nil Seed is replaced as in any reset. It must be safe for concurrent use. Nil means the
	// last task and options again, and in a Reset the zero [envharness.ResetOptions].
	Next func(slot, episode int) envharness.ResetOptions
	// Unjudged leaves out the verdicts of episodes, for a trainer that learns from rewards alone: they are [envharness.Invalid].
	Unjudged bool
}

// A Result is what one slot shows after a Reset or a Step. It shares no memory with other results or with the environment; Final and
// the Transition share their Info and Error.
type Result struct {
	// Transition is what is shown. After a reset only its Observation is set. In the call with which SameStep ends an episode it is
	// that of Final with the new first observation in place of the last one, so that rewards add up and flags are seen in every mode.
	envharness.Transition
	// AutoReset marks a call that ignored its action and reset the slot instead.
	AutoReset bool
	// Final is the last transition of the ended episode where the Transition no longer shows its observation; nil otherwise.
	Final *envharness.Transition
	// Episode sums up the episode that ended with this call, by itself or by a failure; nil if none did.
	Episode *Episode
	// Err is what went wrong in this slot: a failure; [envharness.ErrEpisodeOver] or [envharness.ErrNeedReset], which change nothing; or
	// the error of a context that was done before the slot's turn came, which changes nothing either. A call that was late wraps
	// [context.DeadlineExceeded]. The rest of the Result is then valid where set: a SameStep whose new episode could not begin
	// still shows how the last one ended.
	Err error
}

// An Episode sums up one that has ended. An abandoned one, reset in its midst, is never reported.
type Episode struct {
	Task   string  // as it was asked for
	Seed   uint64  // to play it again
	Return float64 // the sum of the rewards of its turns
	Turns  int     // actions since the reset, a last one that failed included
	// Verdict is that of [envharness.Harness.Verdict]: Invalid, with the error as its Reason, if a failure ended the episode, and zero if
	// [Options].Unjudged.
	Verdict envharness.Verdict
}

// A Vector steps several slots at once. Reset and Step come from one goroutine at a time, else they return [envharness.ErrBusy]; Tools
// and Close may come at any time.
type Vector struct {
	world      envharness.World
	components []envharness.Component
	o          Options
	timeout    time.Duration // zero for none

	busy  atomic.Bool
	begun bool
	all   []int   // the numbers of the slots
	slots []*slot // one that was left behind has been replaced

	mu     sync.Mutex // guards what follows against Tools and Close
	closed bool
	open   []*envharness.Harness // by slot; nil if there is none
}

// maxSlots keeps a mistaken number from taking all memory.
const maxSlots = 1 << 20

// New makes a vector of n >= 1 slots, at most 1,048,576, each with its own environment of w and the components, innermost first, around
// it; the faults that it finds in them are those of [envharness.New]. Nothing is opened before the first Reset.
func New(w envharness.World, components []envharness.Component, n int, o *Options) (*Vector, error) {
	if o == nil {
		o = &Options{}
	}
	v := &Vector{world: w, components: slices.Clone(components), o: *o, timeout: o.StepTimeout}
	var errs []error
	if n < 1 || n > maxSlots {
		errs = append(errs, fmt.Errorf("vector: %d slots, want 1 to %d", n, maxSlots))
	}
	if o.Parallel < 0 {
		errs = append(errs, fmt.Errorf("vector: Parallel is %d, must not be negative", o.Parallel))
	}
	if _, err := o.Mode.MarshalText(); err != nil {
		errs = append(errs, err)
	}
	if _, err := envharness.New(w, components...); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	switch {
	case v.timeout == 0:
		v.timeout = defaultStepTimeout
	case v.timeout < 0:
		v.timeout = 0
	}
	v.open = make([]*envharness.Harness, n)
	v.slots = make([]*slot, n)
	v.all = make([]int, n)
	for i := range v.slots {
		v.all[i], v.slots[i] = i, &slot{index: i, root: o.Seed}
	}
	return v, nil
}

// Reset begins an episode in each of the given slots, or in all if none is given, whether or not one was running there: a running one is
// abandoned, with its return. The options o are those of the slots in the order given, and so are the results; a nil o leaves the choice
// to [Options].Next.
//
// An error means that no slot was touched: [envharness.ErrBusy], [envharness.ErrClosed], an o of the wrong length, a slot that does not
// exist or is given twice, or the error of a ctx that was done before the call. Two come after the work: that of a ctx that became done
// while there was still something to do comes with the results, and a Close during the call makes it return ErrClosed without.
func (v *Vector) Reset(ctx context.Context, o []envharness.ResetOptions, slots ...int) ([]Result, error) {
	if err := v.enter(); err != nil {
		return nil, err
	}
	defer v.busy.Store(false)
	slots, err := v.choose(slots)
	if err != nil {
		return nil, err
	}
	if o != nil && len(o) != len(slots) {
		return nil, fmt.Errorf("vector: reset: %d options for %d slots", len(o), len(slots))
	}
	v.begun = true
	return v.run(ctx, slots, func(l *lane) {
		s := l.slot
		s.episode = 0
		if o != nil {
			l.reset(o[l.at])
		} else {
			l.resetNext(envharness.ResetOptions{})
		}
	})
}

// choose returns the slots that were asked for.
func (v *Vector) choose(slots []int) ([]int, error) {
	if len(slots) == 0 {
		return v.all, nil
	}
	given := make([]bool, len(v.slots))
	for _, i := range slots {
		if i < 0 || i >= len(v.slots) {
			return nil, fmt.Errorf("vector: reset: slot %d is outside [0, %d)", i, len(v.slots))
		}
		if given[i] {
			return nil, fmt.Errorf("vector: reset: slot %d is given twice", i)
		}
		given[i] = true
	}
	return slots, nil
}

// Step gives each slot its action, one for every slot, and returns a result for each. The errors are those of Reset, and
// [envharness.ErrNeedReset] if there was none yet.
func (v *Vector) Step(ctx context.Context, actions []envharness.Action) ([]Result, error) {
	if err := v.enter(); err != nil {
		return nil, err
	}
	defer v.busy.Store(false)
	if len(actions) != len(v.slots) {
		return nil, fmt.Errorf("vector: step: %d actions for %d slots", len(actions), len(v.slots))
	}
	if !v.begun {
		return nil, envharness.ErrNeedReset
	}
	return v.run(ctx, v.all, func(l *lane) { l.step(actions[l.at]) })
}

// enter admits one call at a time.
func (v *Vector) enter() error {
	if v.isClosed() {
		return envharness.ErrClosed
	}
	if !v.busy.CompareAndSwap(false, true) {
		return envharness.ErrBusy
	}
	return nil
}

func (v *Vector) isClosed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.closed
}

// harness returns the harness of a slot and makes it if there is none.
func (v *Vector) harness(s *slot) (*envharness.Harness, error) {
	if s.h != nil {
		return s.h, nil
	}
	h, err := envharness.New(v.world, v.components...)
	if err != nil { // it passed before, so a component's Spec or Check is not constant
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed { // nobody would close it
		return nil, envharness.ErrClosed
	}
	v.open[s.index] = h
	return h, nil
}

// forget lets go of the harness of a slot.
func (v *Vector) forget(slot int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open[slot] = nil
}

// Tools returns a copy of the tools that a policy is shown in the slot's present or last episode. It is nil before the first Reset, during
// one, after a failure, and if there is no such slot.
func (v *Vector) Tools(slot int) []envharness.Tool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if slot < 0 || slot >= len(v.open) || v.open[slot] == nil {
		return nil
	}
	return v.open[slot].Tools()
}

// Close closes all environments, at once, and waits for their Close to return. It is idempotent and may come while a Reset or Step runs,
// which then returns [envharness.ErrClosed] as soon as its slots have returned. The error joins what the environments say.
func (v *Vector) Close() error {
	v.mu.Lock()
	first, open := !v.closed, slices.Clone(v.open)
	v.closed = true // from now on none is added
	v.mu.Unlock()
	if !first {
		return nil
	}
	errs := make([]error, len(open))
	var all sync.WaitGroup
	for i, h := range open {
		if h != nil {
			all.Go(func() {
				if err := h.Close(); err != nil {
					errs[i] = fmt.Errorf("vector: slot %d: close: %w", i, err)
				}
			})
		}
	}
	all.Wait()
	return errors.Join(errs...)
}

// A slot is one place for an episode. It belongs to the goroutine that serves it.
type slot struct {
	index int
	h     *envharness.Harness // nil before the first reset and after a failure

	root    uint64 // of the seeds that nobody gave
	draws   uint64 // seeds drawn from it
	begun   bool   // a Reset has come
	phase   phase
	episode int // begun since the last Reset by the caller

	task    string
	options []byte
	seed    uint64
	sum     float64 // of the rewards
	turns   int
}

type phase uint8

const (
	idle phase = iota // no episode: before the first reset and after a failed one
	running
	over
)

// take notes what to begin.
func (s *slot) take(o envharness.ResetOptions) {
	s.task, s.options = o.Task, bytes.Clone(o.Options)
	if o.Seed != nil {
		s.root, s.draws, s.seed = *o.Seed, 0, *o.Seed
	} else {
		s.draws++
		s.seed = envharness.RandStream(s.root, fmt.Sprint("vector/", s.index), s.draws).Uint64()
	}
	s.begun, s.phase, s.sum, s.turns = true, idle, 0, 0
}

// summary returns the episode as far as it came.
func (s *slot) summary() *Episode {
	return &Episode{Task: s.task, Seed: s.seed, Return: s.sum, Turns: s.turns}
}
