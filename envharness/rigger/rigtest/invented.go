package rigtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// invented is a word that no world has.
const invented = "quoxil7"

// inventsWord makes a call of the plan with a made-up word, one that reads if there is one, where the task can still be passed.
func inventsWord(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	for k, a := range p.plan {
		if p.reads() && !p.readOnly(a.Name) {
			continue
		}
		var args map[string]any
		if json.Unmarshal(a.Args, &args) != nil {
			continue
		}
		var name string
		for _, key := range slices.Sorted(keysOf(args)) {
			if _, ok := args[key].(string); ok {
				name = key
				break
			}
		}
		if name == "" {
			continue
		}
		args[name] = withInvented(args[name].(string))
		raw, err := json.Marshal(args)
		if err != nil {
			return nil, nil, err
		}
		wrong := envharness.Action{Name: a.Name, Args: raw}
		way := append(slices.Clone(p.plan[:k]), wrong)
		v, err := l.play(ctx, way)
		if err != nil {
			return nil, nil, err
		}
		if v.end != nil || v.last() != nil && v.last().Class == envharness.ClassBadArgs {
			continue
		}
		rest, err := l.plan(ctx)
		if err != nil || len(way)+len(rest) > p.limit-1 {
			continue
		}
		return elsewhere(p.finished(append(way, rest...))), nil, nil
	}
	return nil, nil, fmt.Errorf("%w: no call takes a word", ErrNoPlace)
}

func keysOf(m map[string]any) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// withInvented puts the made-up word in place of the longest one.
func withInvented(s string) string {
	words := strings.Fields(s)
	if len(words) == 0 {
		return invented
	}
	longest := 0
	for i, w := range words {
		if len(w) > len(words[longest]) {
			longest = i
		}
	}
	words[longest] = invented
	return strings.Join(words, " ")
}
