package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/bfcl"
)

// A bfclResult compares the checker with the reference.
type bfclResult struct {
	GoldPass map[string]goldPass `json:"gold_pass"` // by category
	Golden   goldenResult        `json:"golden_verdicts"`
	Evidence goldEvidence        `json:"gold_evidence"`
}

// A goldPass says how many rows of a category accept their own gold answer.
type goldPass struct {
	Rows          int      `json:"rows"` // whose gold answer can be written as calls
	Full          int      `json:"full"`
	Short         int      `json:"short"`
	ExpectedFull  int      `json:"expected_full"`
	ExpectedShort int      `json:"expected_short"`
	FailFull      []string `json:"fail_full"`
	FailShort     []string `json:"fail_short"`
}

// A goldenResult counts verdicts that the reference gave on changed answers.
type goldenResult struct {
	Total    int    `json:"total"`
	Agree    int    `json:"agree"` // same verdict, same kind of error
	Disagree string `json:"disagree,omitempty"`
}

// A goldEvidence says what supports the arguments of gold calls, without those that may be left out, and what the rules say of the rest
// of these conversations.
type goldEvidence struct {
	Conversations int                       `json:"conversations"`
	Rejected      map[string]int            `json:"rejected"` // by rule
	Arguments     map[string]argumentCounts `json:"arguments"`
}

// argumentCounts are about the arguments of one kind.
type argumentCounts struct {
	Number     int     `json:"number"`
	Literal    float64 `json:"literal"`    // share of which an accepted value stands in the question as it is
	Ungrounded float64 `json:"ungrounded"` // share of which no accepted value is supported by anything
}

// known are the rows of each category and the rows that do not accept their own gold answer, by the end of their ids: these are faults of
// the leaderboard's data.
var known = map[string]struct {
	rows        int
	full, short []string
}{
	"simple_python":     {400, nil, []string{"17", "200"}},
	"multiple":          {200, nil, nil},
	"parallel":          {200, nil, []string{"88"}},
	"parallel_multiple": {200, []string{"12", "26"}, []string{"87", "119"}},
	"live_simple":       {258, []string{"106-63-0", "112-68-0"}, []string{"106-63-0", "112-68-0"}},
	"live_multiple": {1053, []string{"507-149-4", "862-181-3", "964-207-0"}, []string{"68-29-0", "69-30-0", "77-35-1", "114-44-1", "144-56-0",
		"507-149-4", "834-178-9", "862-181-3", "905-186-2", "906-186-3", "964-207-0"}},
	"live_parallel":          {16, nil, nil},
	"live_parallel_multiple": {24, nil, nil},
	"simple_java":            {82, nil, nil}, // of 100, those without lists and objects
	"simple_javascript":      {33, nil, nil}, // of 50
}

// bfcl reads the leaderboard's tasks and lets the checker judge their gold answers and the recorded outputs.
func (e *evidence) bfcl(ctx context.Context, data string) error {
	checkers := make(map[string]*bfcl.Checker)
	e.BFCL.GoldPass = make(map[string]goldPass)
	var conversations []goldConversation
	for _, category := range slices.Sorted(maps.Keys(known)) {
		tasks, err := readTasks(data, category)
		if err != nil {
			return err
		}
		var g goldPass
		for i := range tasks {
			if err := ctx.Err(); err != nil {
				return err
			}
			t := &tasks[i]
			c, err := bfcl.NewChecker(*t, nil)
			if err != nil {
				return err
			}
			checkers[t.ID] = c
			calls, err := t.GoldCalls(false)
			if err != nil {
				continue // in Java and JavaScript: lists and objects are not written
			}
			g.Rows++
			tail := strings.TrimPrefix(t.ID, category+"_")
			if c.Check(calls).Valid {
				g.Full++
			} else {
				g.FailFull = append(g.FailFull, tail)
			}
			if calls, err = t.GoldCalls(true); err != nil {
				return err
			}
			if c.Check(calls).Valid {
				g.Short++
			} else {
				g.FailShort = append(g.FailShort, tail)
			}
			if !strings.Contains(category, "java") {
				if s, ok := conversation(t, calls); ok {
					conversations = append(conversations, goldConversation{s, t.Gold})
				}
			}
		}
		k := known[category]
		g.ExpectedFull, g.ExpectedShort = k.rows-len(k.full), k.rows-len(k.short)
		e.BFCL.GoldPass[category] = g
		e.claim(g.Rows == k.rows, "bfcl: %s has %d rows, want %d", category, g.Rows, k.rows)
		e.claim(sameIDs(g.FailFull, k.full), "bfcl: of %s these do not accept their full gold answer: %v, want %v", category, g.FailFull, k.full)
		e.claim(sameIDs(g.FailShort, k.short), "bfcl: of %s these do not accept their short gold answer: %v, want %v", category, g.FailShort, k.short)
	}
	if err := e.golden(ctx, data, checkers); err != nil {
		return err
	}
	return e.goldEvidence(ctx, conversations)
}

func sameIDs(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// readTasks reads the questions of a category with their gold answers.
func readTasks(data, category string) ([]bfcl.Task, error) {
	name := "BFCL_v4_" + category + ".json"
	questions, err := os.Open(filepath.Join(data, "bfcl", name))
	if err != nil {
		return nil, err
	}
	defer questions.Close()
	answers, err := os.Open(filepath.Join(data, "bfcl", "possible_answer", name))
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	gold := make(map[string][]bfcl.Gold)
	for a, err := range bfcl.ReadAnswers(answers, "possible_answer/"+name) {
		if err != nil {
			return nil, err
		}
		gold[a.ID] = a.Gold
	}
	var tasks []bfcl.Task
	for t, err := range bfcl.ReadTasks(questions, name) {
		if err != nil {
			return nil, err
		}
		t.Gold = gold[t.ID]
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// golden compares verdicts, then times the checker over the same outputs.
func (e *evidence) golden(ctx context.Context, data string, checkers map[string]*bfcl.Checker) error {
	name := filepath.Join(data, "bfcl_golden", "golden.jsonl")
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	type output struct {
		checker *bfcl.Checker
		text    []byte
	}
	var outputs []output
	r := &e.BFCL.Golden
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var row struct {
			ID       string          `json:"id"`
			Mutation string          `json:"mutation"`
			Output   json.RawMessage `json:"output"`
			Valid    bool            `json:"valid"`
			Error    string          `json:"error_type"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return fmt.Errorf("%s: line %d: %w", name, r.Total+1, err)
		}
		c := checkers[row.ID]
		if c == nil {
			return fmt.Errorf("%s: line %d: no task has the id %q", name, r.Total+1, row.ID)
		}
		r.Total++
		got := c.CheckOutput(row.Output)
		if got.Valid == row.Valid && got.Error == row.Error {
			r.Agree++
		} else if r.Disagree == "" {
			r.Disagree = fmt.Sprintf("%s, %s: %v %q, want %v %q", row.ID, row.Mutation, got.Valid, got.Error, row.Valid, row.Error)
		}
		outputs = append(outputs, output{c, row.Output})
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	e.claim(r.Total == 18_061, "bfcl: %d recorded verdicts, want 18061", r.Total)
	e.claim(r.Agree == r.Total, "bfcl: %d of %d verdicts are those of the reference, such as not %s", r.Agree, r.Total, r.Disagree)
	start := time.Now()
	for _, o := range outputs {
		o.checker.CheckOutput(o.text)
	}
	e.Speed.Checks = float64(len(outputs)) / time.Since(start).Seconds()
	return nil
}

// A goldConversation has gold calls, in the order of the gold answer that they are made of.
type goldConversation struct {
	sample midtool.Sample
	gold   []bfcl.Gold
}

// conversation puts gold calls between the question and an answer; false where the question or the functions do not make one.
func conversation(t *bfcl.Task, calls []bfcl.Call) (midtool.Sample, bool) {
	s := midtool.Sample{ID: t.ID, Source: "bfcl"}
	exported := make(map[string]string)
	for _, f := range t.Functions {
		tool, err := midtool.Normalize(midtool.Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters})
		if err != nil {
			return s, false
		}
		tool.Name = fmt.Sprintf("f%d", len(s.Tools)) // names have dots, and a question may well say one
		exported[f.Name] = tool.Name
		s.Tools = append(s.Tools, tool)
	}
	if len(t.Turns) != 1 {
		return s, false
	}
	for _, m := range t.Turns[0] {
		s.Messages = append(s.Messages, midtool.Message{Role: midtool.Role(m.Role), Content: m.Content})
	}
	ask := midtool.Message{Role: midtool.RoleAssistant}
	var results []midtool.Message
	for i, c := range calls {
		id := fmt.Sprintf("call_%04d", i+1)
		ask.Calls = append(ask.Calls, midtool.Call{ID: id, Name: exported[c.Name], Arguments: c.Arguments})
		results = append(results, midtool.Message{Role: midtool.RoleTool, CallID: id, Name: exported[c.Name], Content: `{"status": "ok"}`})
	}
	s.Messages = append(append(s.Messages, ask), results...)
	s.Messages = append(s.Messages, midtool.Message{Role: midtool.RoleAssistant, Content: "The status is ok."})
	return s, true
}

// goldEvidence checks the conversations, and counts what supports their arguments: the best that can be said of any accepted value.
func (e *evidence) goldEvidence(ctx context.Context, conversations []goldConversation) error {
	r := &e.BFCL.Evidence
	checker := new(midtool.Checker)
	r.Rejected = make(map[string]int)
	tallies := make(map[string]*tally)
	for i := range conversations {
		g := &conversations[i]
		found, err := checker.Check(ctx, &g.sample)
		if err != nil {
			return err
		}
		r.Conversations++
		for rule := range rulesIn(found.Violations) {
			r.Rejected[rule]++
		}
		for p := range trained(&g.sample) {
			var accepted map[string][]json.RawMessage
			if err := json.Unmarshal(g.gold[p.call].Options, &accepted); err != nil {
				return fmt.Errorf("%s: %w", g.sample.ID, err)
			}
			for _, name := range p.names() {
				class, err := support(ctx, checker, &g.sample, p, name, accepted[name])
				if err != nil {
					return err
				}
				kind := kindOf(p.arguments[name], p.parameters.Properties[name])
				if tallies[kind] == nil {
					tallies[kind] = new(tally)
				}
				tallies[kind].add(class)
			}
		}
	}
	r.Arguments = make(map[string]argumentCounts)
	for kind, c := range tallies {
		r.Arguments[kind] = argumentCounts{c.number, share(c.literal, c.number), share(c.ungrounded, c.number)}
	}
	s := r.Arguments["string"]
	e.claim(s.Number > 0 && s.Ungrounded < 1-s.Literal, "bfcl: %.1f %% of the strings in gold calls are ungrounded, and a literal test refuses %.1f %%",
		100*s.Ungrounded, 100*(1-s.Literal))
	return nil
}

// A tally counts arguments of one kind.
type tally struct{ number, literal, ungrounded int }

func (t *tally) add(class midtool.EvidenceClass) {
	t.number++
	switch class {
	case midtool.EvidenceLiteral:
		t.literal++
	case midtool.EvidenceUngrounded:
		t.ungrounded++
	}
}

// support is the best class that an argument has with any of its accepted values. Accepted objects are left at what the call has, for their
// members have lists of their own.
func support(
	ctx context.Context, c *midtool.Checker, s *midtool.Sample, p place, name string, accepted []json.RawMessage,
) (midtool.EvidenceClass, error) {
	best := midtool.EvidenceUngrounded
	for _, value := range append([]json.RawMessage{p.arguments[name]}, accepted...) {
		if string(value) == `""` || value[0] == '{' && string(value) != string(p.arguments[name]) {
			continue
		}
		other := clone(*s)
		rewrite(&other, p, func(a map[string]json.RawMessage) { a[name] = value })
		found, err := c.Check(ctx, &other)
		if err != nil {
			return "", err
		}
		prefix := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		id := s.Messages[p.message].Calls[p.call].ID
		worst := midtool.EvidenceLiteral // of the scalars in it
		for _, x := range found.Evidence {
			rest, inside := strings.CutPrefix(x.Path, prefix)
			if inside && x.CallID == id && (rest == "" || rest[0] == '/') && rank(x.Class) > rank(worst) {
				worst = x.Class
			}
		}
		if rank(worst) < rank(best) {
			best = worst
		}
		if best == midtool.EvidenceLiteral {
			break
		}
	}
	return best, nil
}

// rank orders the classes from best to worst.
func rank(class midtool.EvidenceClass) int {
	return slices.Index([]midtool.EvidenceClass{midtool.EvidenceLiteral, midtool.EvidenceNormalized, midtool.EvidenceToolResult,
		midtool.EvidenceEnumDefault, midtool.EvidenceDerived, midtool.EvidenceUngrounded}, class)
}

// kindOf sorts arguments by what can be found in a question.
func kindOf(value json.RawMessage, p property) string {
	switch {
	case p.Enum != nil:
		return "enum"
	case value[0] == '"':
		return "string"
	case value[0] == '[':
		return "list"
	case value[0] == '{':
		return "object"
	case value[0] == 't' || value[0] == 'f':
		return "boolean"
	case value[0] == 'n':
		return "null"
	}
	return "number"
}

func (r bfclResult) write(line func(string, ...any)) {
	line("\nleaderboard\trows\tgold passes\texpected\tshort\texpected\tfailing, full and short")
	for _, category := range slices.Sorted(maps.Keys(r.GoldPass)) {
		g := r.GoldPass[category]
		line("%s\t%d\t%d\t%d\t%d\t%d\t%v %v", category, g.Rows, g.Full, g.ExpectedFull, g.Short, g.ExpectedShort, g.FailFull, g.FailShort)
	}
	line("verdicts like the reference: %d of %d", r.Golden.Agree, r.Golden.Total)
	line("\ngold calls as conversations: %d, rejected by %s", r.Evidence.Conversations, counts(r.Evidence.Rejected))
	line("arguments\tnumber\tnot literal\tungrounded")
	for _, kind := range slices.Sorted(maps.Keys(r.Evidence.Arguments)) {
		a := r.Evidence.Arguments[kind]
		line("%s\t%d\t%.1f %%\t%.1f %%", kind, a.Number, 100*(1-a.Literal), 100*a.Ungrounded)
	}
}
