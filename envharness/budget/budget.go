package budget

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/bps"
)

// Options adjusts a [Chooser]. A nil *Options equals &Options{}.
type Options struct {
	// Pinned are names of tools that are offered in each turn that has them, beside those that may end the episode: those that no task can
	// do without. A name that no turn has is no error.
	Pinned []string
	// Stay is the share, in [0, 1], of the objective of the best choice found with which the choice of the turn before stays as it is; where
	// all tools are offered, the share of what skills add to it. Nil means 0.9; 1 changes for any improvement, and 0 keeps the first
	// choice as long as its tools are there.
	Stay *float64
	// Text adjusts the search. Its Count counts what a request has, its Overhead is what the request has besides, such as lines around
	// the tools, and its Pinned and Excluded are positions of skills. Search.Recheck must be nil: the chooser counts what it offers
	// itself, and Search.Certify is off unless it is set. Nil means the defaults.
	Text *bps.TextOptions
}

// A Chooser chooses for the turns of one episode after another. It serves one policy, and one goroutine at a time: where episodes run in
// parallel, each policy needs one of its own.
type Chooser struct {
	budget   int
	stay     float64
	names    map[string]bool // of tools that are pinned
	count    func(string) int
	text     bps.TextOptions // of every search; Count, Pinned and Excluded are nil
	most     int             // candidates of a search
	skills   []bps.Text
	rendered []string // of skills
	tokens   []int    // of rendered
	pinned   []int    // skills, ascending
	excluded []int    // skills
	lists    []*list  // the latest first

	// Of the episode:
	started bool
	stated  string // Data["task"] of its observations
	task    string
	called  []string // names of tools, the latest first
	before  *offer   // of the last turn
	last    Choice
}

const (
	defaultStay = 0.9
	defaultKeep = 40 // that of bps.TextOptions
)

// New makes a chooser that spends at most tokens in each turn on tools and on skills together. The skills are copied; there may be none.
//
// A negative number of tokens, and pinned skills that do not fit, are [bps.ErrBudget]; options outside their ranges are errors as those of
// [bps.FromTexts], positions speaking of skills. All faults are reported together.
func New(tokens int, skills []bps.Text, o *Options) (*Chooser, error) {
	if o == nil {
		o = &Options{}
	}
	c := &Chooser{budget: tokens, stay: defaultStay, names: map[string]bool{}, skills: slices.Clone(skills)}
	var errs []error
	if tokens < 0 {
		errs = append(errs, fmt.Errorf("%w: %d tokens, want >= 0", bps.ErrBudget, tokens))
	}
	if o.Stay != nil {
		if c.stay = *o.Stay; !(c.stay >= 0 && c.stay <= 1) {
			errs = append(errs, fmt.Errorf("Options.Stay is %v, want one of [0, 1]", c.stay))
		}
	}
	for i, name := range o.Pinned {
		if name == "" {
			errs = append(errs, fmt.Errorf("Options.Pinned: name %d is empty", i))
		}
		c.names[name] = true
	}
	if o.Text != nil {
		c.text = *o.Text
	}
	errs = append(errs, c.options())
	err := errors.Join(errs...)
	if err == nil {
		err = c.fits(&list{chooser: c}, c.pinned)
	}
	if err != nil {
		return nil, fmt.Errorf("budget: %w", err)
	}
	return c, nil
}

// options takes over c.text and reads the skills.
func (c *Chooser) options() error {
	t := &c.text
	var errs []error
	search := bps.Options{}
	if t.Search != nil {
		search = *t.Search
	}
	if search.Recheck != nil {
		errs = append(errs, errors.New("Options.Text.Search.Recheck is set, want nil"))
		search.Recheck = nil
	}
	if search.Certify == nil {
		search.Certify = new(false)
	}
	t.Search = &search
	if c.count = t.Count; c.count == nil {
		c.count = bps.EstimateTokens
	}
	c.most = cmp.Or(t.Keep, defaultKeep)
	c.pinned, c.excluded = slices.Clone(t.Pinned), slices.Clone(t.Excluded)
	slices.Sort(c.pinned)

	// A search among texts without tokens finds what is wrong with the options and with nothing else.
	trial := *t
	trial.Count = func(string) int { return 0 }
	trial.Overhead = max(0, t.Overhead)
	_, err := bps.FromTexts(context.Background(), "", c.skills, trial.Overhead, &trial)
	errs = append(errs, err)
	if t.Overhead < 0 {
		errs = append(errs, fmt.Errorf("%w: the overhead is %d, want >= 0", bps.ErrTokens, t.Overhead))
	}
	for i, s := range c.skills {
		text := writeSkill(s)
		n, err := c.counted(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("skill %d, %q: %w", i, s.Name, err))
		}
		c.rendered, c.tokens = append(c.rendered, text), append(c.tokens, n)
	}
	t.Count, t.Pinned, t.Excluded = nil, nil, nil
	return errors.Join(errs...)
}

// Called tells the chooser that the policy called a tool, by its name: see the package comment for what that changes. The policy of
// [Chooser.Policy] tells it by itself. Without it, a tool that was called counts as any other does.
func (c *Chooser) Called(name string) {
	c.called = slices.DeleteFunc(c.called, func(n string) bool { return n == name })
	c.called = slices.Insert(c.called, 0, name)
}

// A Choice is what was offered in a turn, and why. It is read-only.
type Choice struct {
	Turn   int    // its Index
	Query  string // what the texts were compared with
	Skills []int  // positions of those chosen, ascending
	Tools  []int  // positions of those chosen in Turn.Tools, ascending
	Tokens int    // of what was offered, counted as a whole; 0 if that is nothing
	All    int    // what all skills that are not excluded and all tools would count
	Stayed bool   // the choice is that of the turn before, though the search found another
	// Selection is what the search found; nil where all was offered without one. Its positions are those of the skills, and of Turn.Tools
	// after them: tool i is at len(skills)+i.
	Selection *bps.Selection
}

// Last returns the choice of the last turn for which Offer returned no error; the zero value before the first.
func (c *Chooser) Last() Choice { return c.last }
