package traces

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// judge checks a sample under the first family that it can be proved to belong to.
func (im *importer) judge(ctx context.Context, s *midtool.Sample) (midtool.Findings, error) {
	found, err := im.family(ctx, s)
	if err == nil && mask(s, found.Violations) {
		found, err = im.family(ctx, s)
	}
	return found, err
}

var families = []midtool.Family{midtool.Single, midtool.Parallel, midtool.Sequential, midtool.MultiTurn, midtool.MissingInfo,
	midtool.MissingFunction, midtool.Irrelevance, midtool.Recovery, midtool.NoCall}

// family tries the families that the structure allows. The proofs are those of the Checker, so that what is said of a sample
// here is what is checked everywhere.
func (im *importer) family(ctx context.Context, s *midtool.Sample) (midtool.Findings, error) {
	sh := shapeOf(s)
	if slices.Contains(families, s.Family) {
		if s.Ability == "" {
			s.Ability, s.SecondAbility = sh.abilities(s.Family)
		}
		return im.check.Check(ctx, s)
	}
	for _, f := range sh.candidates() {
		s.Family = f
		found, err := im.check.Check(ctx, s)
		if err != nil {
			return found, err
		}
		if !slices.ContainsFunc(found.Violations, func(v midtool.Violation) bool { return v.Rule == "proof" }) {
			s.Ability, s.SecondAbility = sh.abilities(f)
			return found, nil
		}
	}
	s.Family = ""
	s.Ability, s.SecondAbility = sh.abilities("")
	return im.check.Check(ctx, s)
}

// A shape is what can be counted of a conversation.
type shape struct {
	tools     int
	users     int
	calls     int
	calling   int // assistant's messages with calls
	first     int // calls of the assistant's first message
	arguments bool
	errors    bool // results that report one
}

func shapeOf(s *midtool.Sample) shape {
	var sh shape
	for range offered(s) {
		sh.tools++
	}
	spoke := false
	for i := range s.Messages {
		m := &s.Messages[i]
		switch m.Role {
		case midtool.RoleUser:
			sh.users++
		case midtool.RoleAssistant:
			if !spoke {
				spoke, sh.first = true, len(m.Calls)
			}
			if len(m.Calls) > 0 {
				sh.calling++
			}
			sh.calls += len(m.Calls)
			for _, c := range m.Calls {
				sh.arguments = sh.arguments || strings.Contains(string(c.Arguments), ":")
			}
		case midtool.RoleTool:
			sh.errors = sh.errors || isError(m.Content)
		}
	}
	return sh
}

func (sh shape) candidates() []midtool.Family {
	if sh.calls == 0 {
		return []midtool.Family{midtool.NoCall}
	}
	var out []midtool.Family
	if sh.errors {
		out = append(out, midtool.Recovery)
	}
	switch {
	case sh.calls == 1:
		out = append(out, midtool.Single)
	case sh.first == sh.calls:
		out = append(out, midtool.Parallel)
	case sh.users == 1 && sh.calling > 1:
		out = append(out, midtool.Sequential)
	case sh.users > 1 && sh.calling > 1:
		out = append(out, midtool.MultiTurn)
	}
	return out
}

// abilities are what a sample of the family teaches, in the first place and besides.
func (sh shape) abilities(f midtool.Family) (first, second midtool.Ability) {
	switch f {
	case midtool.Sequential, midtool.MultiTurn:
		return midtool.Composition, ""
	case midtool.MissingInfo, midtool.MissingFunction, midtool.Recovery:
		return midtool.Recover, ""
	}
	switch {
	case sh.tools == 0:
		return "", ""
	case !sh.arguments:
		return midtool.Affordance, ""
	case f == midtool.Single && sh.tools > 2:
		return midtool.Grounding, midtool.Affordance
	}
	return midtool.Grounding, ""
}

// isError says whether a result reports one. Most say by their text that they do not.
func isError(content string) bool {
	if !strings.Contains(content, "rror") && !strings.Contains(content, "status") && !strings.Contains(content, `\u`) {
		return false
	}
	v, err := jsonval.Parse([]byte(content))
	return err == nil && jsonval.ReportsError(&v)
}

// mistakes are what a call can be guilty of and still be shown.
var mistakes = []string{"missing_required", "unexpected_argument", "schema", "ungrounded", "blank_call"}

// mask marks the messages whose calls are mistakes that the tools answered by errors, and says whether there are any.
func mask(s *midtool.Sample, found []midtool.Violation) bool {
	masked := false
	seen := make(map[int]bool)
	for _, v := range found {
		rest, ok := strings.CutPrefix(v.Path, "/messages/")
		at, _, calls := strings.Cut(rest, "/calls/")
		i, err := strconv.Atoi(at)
		if !ok || !calls || err != nil || i >= len(s.Messages) || !slices.Contains(mistakes, v.Rule) {
			continue
		}
		m := &s.Messages[i]
		if seen[i] || m.Untrained || i+1+len(m.Calls) > len(s.Messages) {
			continue
		}
		seen[i] = true
		failed := true
		for _, r := range s.Messages[i+1 : i+1+len(m.Calls)] {
			failed = failed && r.Role == midtool.RoleTool && isError(r.Content)
		}
		if failed {
			m.Untrained, masked = true, true
		}
	}
	return masked
}
