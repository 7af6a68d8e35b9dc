package rigger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A Model is a [Designer] and a [Decider] that asks a language model, as the paper does. No client comes with it. What the model is told is
// in the brief: task and tools, the catalogue of components, the policy's flaws, its shortest passed and its longest failed rollout, the
// last attempts; never what a confirmation showed. Texts of the world and of the policy are quoted in it as JSON strings, and called data.
//
// A reply must be one JSON object of the stated form, in at most one code fence: unknown, missing or repeated fields, and anything before or
// after it, are refused, and so are tags that the registry lacks, the chain, and parameters that build no component. What was wrong with a
// reply is told to the model in another call. What remains unreadable is an error of Design, and a Reject of Decide: the accept of a model is
// needed and never enough.
//
// Only a *Model itself decides: a [DesignerFunc] of its Design, or another Designer around it without Decide, leaves the decision to the
// objective.
//
// The paper leaves prompts and forms open; these are ours. A model that picks the next task is left out: [Rig] works on all tasks that it is
// given, in their order.
type Model struct {
	// Generate returns the reply to a prompt, which says all of what follows. Required. The reply to Design is one JSON object with these
	// fields and no others, where direction is that of the brief, target_flaw F01 to F20 or F00 for none, rationale at most 1000 bytes:
	//
	//	{"components": [{"tag": "step_budget", "params": {"turns": 8}}], "direction": "harder", "target_flaw": "F07", "rationale": "long ways"}
	//
	// Components are innermost first, at most Brief.MaxComponents; none says that there is nothing to propose. The reply to Decide is
	//
	//	{"decision": "refine", "primary_axis": "B", "label": "too tight", "description": "No episode had the turns that a solution takes."}
	//
	// with accept, refine or reject; S0, A, T, O, B or none; at most 60 and 500 characters. The last three are for people and change nothing.
	//
	// An error of Generate ends the call without another try, as one that wraps [envharness.ErrInfra]: it is not kept in a [Journal], so that
	// a run that is resumed asks again.
	Generate func(ctx context.Context, prompt string) (string, error)
	Name     string // of the model, for records; empty means that nobody says
	Repairs  *int   // further calls after a reply that cannot be used, 0 to 3; nil means 1
}

const maxRepairs = 3

// String returns "model", a colon and the name if there is one, and the number of repairs, as in "model:name, 1 repairs".
func (m *Model) String() string {
	name := "model"
	if m.Name != "" {
		name += ":" + m.Name
	}
	return fmt.Sprintf("%s, %d repairs", name, m.repairs())
}

func (m *Model) repairs() int {
	if m.Repairs == nil {
		return 1
	}
	return *m.Repairs
}

// Design implements [Designer]: it asks for a candidate, or for a refined one. The model may answer that it has none.
func (m *Model) Design(ctx context.Context, b Brief) (Candidate, error) {
	var c Candidate
	if b.Direction != components.Harder && b.Direction != components.Easier {
		return c, fmt.Errorf("rigger: model: direction %q of the brief is neither harder nor easier", b.Direction)
	}
	if b.Registry == nil {
		b.Registry = components.Catalogue()
	}
	err := m.ask(ctx, designPrompt(b), func(reply []byte) (err error) {
		c, err = decodeDesign(reply, b)
		return err
	})
	if err != nil {
		return Candidate{}, fmt.Errorf("rigger: model: design: %w", err)
	}
	return c, nil
}

// Decide implements [Decider]: it asks what is to become of an attempt, and shows the screening. Whenever the error is not nil the decision is
// [Reject].
func (m *Model) Decide(ctx context.Context, b Brief, a Attempt) (Decision, error) {
	d := Reject
	err := m.ask(ctx, decidePrompt(b, a), func(reply []byte) (err error) {
		d, err = decodeDecision(reply)
		return err
	})
	if err != nil {
		return Reject, fmt.Errorf("rigger: model: decide: %w", err)
	}
	return d, nil
}

// ask calls the model until use takes a reply, or no calls are left.
func (m *Model) ask(ctx context.Context, prompt string, use func(reply []byte) error) error {
	repairs := m.repairs()
	switch {
	case m.Generate == nil:
		return errors.New("no Generate")
	case repairs < 0 || repairs > maxRepairs:
		return fmt.Errorf("field Repairs is %d, it must be 0 to %d", repairs, maxRepairs)
	}
	feedback := ""
	var refused []error
	for n := range repairs + 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		reply, err := m.Generate(ctx, prompt+feedback)
		if err != nil { // of the service: a run that is resumed asks again
			return fmt.Errorf("%w: %w", envharness.ErrInfra, err)
		}
		object, err := unfence(reply)
		if err == nil {
			err = use(object)
		}
		if err == nil {
			return nil
		}
		refused = append(refused, fmt.Errorf("reply %d: %w", n+1, err))
		feedback = fmt.Sprintf("\nYour last reply began with %s and was refused: %s. Answer again, with one JSON object in the form above.\n",
			quote(reply, 500), quote(err.Error(), 1000))
	}
	return errors.Join(refused...)
}

// cut returns at most n characters of a text, of which the last three are dots if it is longer, and nothing that is not UTF-8.
func cut(text string, n int) string {
	if len(text) > 4*n { // all that could be needed, whatever the size of the text
		text = text[:4*n]
		for i := 0; i < utf8.UTFMax && len(text) > 0 && !utf8.RuneStart(text[len(text)-1]); i++ {
			text = text[:len(text)-1]
		}
		text += "....."
	}
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-3]) + "..."
}
