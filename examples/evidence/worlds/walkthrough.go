package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/throughline-go/throughline/examples/internal/walkthrough"
)

// walkthroughResult counts the expert walkthroughs that reach the goal.
type walkthroughResult struct {
	Skipped  string         `json:"skipped,omitempty"` // why
	Total    int            `json:"total"`
	Solved   int            `json:"solved"`
	OnePlace int            `json:"solved_in_one_place"` // without the rule that lets an object be in two receptacles at the start
	ByCause  map[string]int `json:"by_cause"`            // of those that do not
	Unsolved []unsolved     `json:"unsolved,omitempty"`
}

type unsolved struct {
	Game  string `json:"game"`
	Cause string `json:"cause"`
}

// runWalkthroughs replays the walkthroughs of the data, with a limit so many at equal distances.
func runWalkthroughs(ctx context.Context, data string, s effort) (walkthroughResult, error) {
	r := walkthroughResult{ByCause: make(map[string]int)}
	if data == "" {
		r.Skipped = "neither -data nor THROUGHLINE_DATA names a folder"
		return r, nil
	}
	path := filepath.Join(data, "alfworld", "expert_walkthroughs.json")
	games, err := walkthrough.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.Skipped = fmt.Sprintf("the data has no %s", filepath.Join("alfworld", "expert_walkthroughs.json"))
		return r, nil
	}
	if err != nil {
		return r, err
	}
	r.Total = len(games)
	if s.walkthroughs > 0 {
		r.Total = min(r.Total, s.walkthroughs)
	}
	for i := range r.Total {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		g := games[i*len(games)/r.Total]
		cause, err := walkthrough.Replay(ctx, g)
		if err != nil {
			return r, fmt.Errorf("%s: %w", g.ID, err)
		}
		if cause == "" {
			r.Solved++
			if !walkthrough.InTwoPlaces(g) {
				r.OnePlace++
			}
			continue
		}
		r.ByCause[cause]++
		r.Unsolved = append(r.Unsolved, unsolved{g.ID, cause})
	}
	return r, nil
}

// solved says how many are, and how many of them need no object in two places.
func (r walkthroughResult) solved() string {
	return fmt.Sprintf("%d (%d without the two-places rule)", r.Solved, r.OnePlace)
}

func (r walkthroughResult) write(line func(string, ...any)) {
	if r.Skipped != "" {
		line("\nwalkthroughs: skipped: %s", r.Skipped)
		return
	}
	line("\nwalkthroughs: %s of %d are solved", r.solved(), r.Total)
	for _, cause := range slices.Sorted(maps.Keys(r.ByCause)) {
		line("%s\t%d", cause, r.ByCause[cause])
	}
}
