package components_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// file is a specification with the given world and stack.
func file(env, stack string) string {
	return fmt.Sprintf(`{"schema_version":1,"env":%s,"task":{"id":"","seed":7},"stack":%s}`, env, stack)
}

// stacked is a specification with the given entries around the tally.
func stacked(entries ...string) string { return file(tallyEnv, "["+strings.Join(entries, ",")+"]") }

// bare is a specification without a stack, with one change.
func bare(old, changed string) string { return strings.Replace(file(tallyEnv, `[]`), old, changed, 1) }

// leg is a specification without a seed.
func leg(env, stack string) string {
	return fmt.Sprintf(`{"schema_version":1,"env":%s,"task":{"id":""},"stack":%s}`, env, stack)
}

const (
	tallyEnv  = `{"tag":"tally","version":1,"params":{}}`
	tallyLeg  = `{"schema_version":1,"env":` + tallyEnv + `,"task":{"id":""},"stack":[]}`
	blockFile = `{"tag":"block","version":1,"id":"block","params":{}}`
)

// chainOf is a chain of the legs, in the env of a specification.
func chainOf(params string, legs ...string) string {
	return fmt.Sprintf(`{"tag":"chain","params":%s,"legs":[%s]}`, params, strings.Join(legs, ","))
}

func entry(tag, params string) string {
	return fmt.Sprintf(`{"tag":%q,"version":1,"id":%q,"params":%s}`, tag, tag, params)
}

func TestDecodeRefuses(t *testing.T) {
	deepChain := tallyLeg
	for range 1000 {
		deepChain = leg(chainOf(`{}`, deepChain, tallyLeg), `[]`)
	}
	chains9 := tallyLeg
	for range 9 {
		chains9 = leg(chainOf(`{}`, tallyLeg, chains9), `[]`)
	}
	long := strings.Repeat("k", 1000)
	tests := []struct {
		name   string
		data   string
		is     error  // nil: any
		want   string // in the text of the error
		reason string
	}{
		{"nothing", ``, nil, "end of JSON", "no value"},
		{"null", `null`, nil, "null", "no object"},
		{"list", `[]`, nil, "not a JSON object", "no object"},
		{"text", `"x"`, nil, "not a JSON object", "no object"},
		{"broken", `{"schema_version":1,`, nil, "byte 20", "syntax"},
		{"trailing brace", file(tallyEnv, `[]`) + `}`, nil, "after top-level value", "json.Decoder.More does not see it"},
		{"trailing object", file(tallyEnv, `[]`) + "\n{}", nil, "after top-level value", "two values"},
		{"not UTF-8", bare(`"id":""`, "\"id\":\"\xff\""), nil, "UTF-8", "it would become U+FFFD"},
		{"byte order mark", "\ufeff" + file(tallyEnv, `[]`), nil, "byte 1", "no JSON"},

		{"version 2", `{"schema_version":2,"steps":[]}`, components.ErrVersion, "/schema_version", "before the fields, which may be others"},
		{"version 0", bare(`n":1`, `n":0`), components.ErrVersion, "/schema_version", "3.8"},
		{"version 1.5", bare(`n":1`, `n":1.5`), components.ErrVersion, "/schema_version", "3.8"},
		{"version text", bare(`n":1`, `n":"1"`), nil, "schema_version", "a number"},
		{"version 1e400", bare(`n":1`, `n":1e400`), nil, "/schema_version: number 1e400", "out of range"},
		{"version missing", `{"env":` + tallyEnv + `,"task":{"id":""},"stack":[]}`, nil, "/schema_version: missing", "3.8"},
		{"leg of version 0", file(chainOf(`{}`, tallyLeg, strings.Replace(tallyLeg, `n":1`, `n":0`, 1)), `[]`), components.ErrVersion,
			"/env/legs/1/schema_version", "a leg is a specification"},
		{"leg of version 2", file(chainOf(`{}`, strings.Replace(tallyLeg, `n":1`, `n":2`, 1), tallyLeg), `[]`), components.ErrVersion,
			"/env/legs/0/schema_version", "a leg is a specification"},

		{"field", bare(`"env"`, `"hooks":{},"env"`), nil, "/hooks: unknown field", "strict"},
		{"field of the task", bare(`"id":""`, `"id":"","x":1`), nil, "/task/x: unknown field", "strict"},
		{"field of an entry", stacked(`{"tag":"block","version":1,"id":"b","params":{},"axis":"A"}`), nil, "/stack/0/axis: unknown", "strict"},
		{"case of a field", bare(`"env"`, `"Env"`), nil, "/Env: unknown field", "encoding/json takes it"},
		{"case of a letter", bare(`"stack"`, `"ſtack"`), nil, "/ſtack: unknown field", "encoding/json folds it"},
		{"no env", `{"schema_version":1,"task":{"id":""},"stack":[]}`, nil, "/env: missing", "every field is written"},
		{"no stack", `{"schema_version":1,"env":` + tallyEnv + `,"task":{"id":""}}`, nil, "/stack: missing", "every field is written"},
		{"no task", `{"schema_version":1,"env":` + tallyEnv + `,"stack":[]}`, nil, "/task: missing", "every field is written"},
		{"no id", bare(`"id":"",`, ``), nil, "/task/id: missing", "every field is written"},
		{"no params", file(`{"tag":"tally","version":1}`, `[]`), nil, "/env/params: missing", "every field is written"},
		{"null stack", file(tallyEnv, `null`), nil, "/stack: null", "null is no list"},
		{"null entry", file(tallyEnv, `[null]`), nil, "/stack/0: null", "null is no entry"},
		{"stack object", file(tallyEnv, `{}`), nil, "stack", "no list"},
		{"null seed", bare(`7`, `null`), nil, "/task/seed: null", "leave it out"},
		{"negative seed", bare(`7`, `-1`), nil, "seed", "uint64"},
		{"seed 2^64", bare(`7`, `18446744073709551616`), nil, "seed", "uint64"},
		{"seed 0.5", bare(`7`, `0.5`), nil, "seed", "no integer"},
		{"seed text", bare(`7`, `"7"`), nil, "seed", "no number"},
		{"empty split", bare(`"seed":7`, `"split":""`), nil, "/task/split: empty", "one way to write it"},
		{"meta list", bare(`"env"`, `"meta":[],"env"`), nil, "/meta", "an object"},
		{"meta null", bare(`"env"`, `"meta":null,"env"`), nil, "/meta: not", "an object"},
		{"meta number", bare(`"env"`, `"meta":{"a":[0,1e400]},"env"`), nil, "/meta/a/1: number 1e400", "out of range"},

		{"key twice", bare(`"env"`, `"stack":[],"env"`), nil, "/stack: the key is given twice", "the last would win"},
		{"key twice, escaped", bare(`"env"`, `"\u0073tack":[],"env"`), nil, "/stack: the key", "the same key"},
		{"key twice in params", stacked(entry("step_budget", `{"turns":1,"turns":9}`)), nil, "/stack/0/params/turns: the key", "the same"},
		{"key twice in meta", bare(`"env"`, `"meta":{"a":{"é":1,"é":1}},"env"`), nil, "/meta/a/é: the key", "the same"},
		{"surrogates", bare(`"env"`, `"meta":{"\ud800":1,"\ud801":1},"env"`), nil, "the key is given twice",
			"both become U+FFFD"},

		{"world", file(`{"tag":"shop","version":1,"params":{}}`, `[]`), components.ErrUnknownTag, `/env/tag: components: unknown tag "shop"`,
			"strict"},
		{"no world", file(`{"tag":"","version":1,"params":{}}`, `[]`), components.ErrUnknownTag, `/env/tag`, "strict"},
		{"world version", file(`{"tag":"tally","version":2,"params":{}}`, `[]`), components.ErrVersion, "/env/version", "strict"},
		{"world version missing", file(`{"tag":"tally","params":{}}`, `[]`), components.ErrVersion, "/env/version", "strict"},
		{"world version 0", file(`{"tag":"tally","version":0,"params":{}}`, `[]`), nil, "/env/version: empty", "strict"},
		{"world param", file(`{"tag":"tally","version":1,"params":{"x":1}}`, `[]`), components.ErrUnknownParam, "/env/params", "strict"},
		{"world params null", file(`{"tag":"tally","version":1,"params":null}`, `[]`), nil, "/env/params: not a JSON object",
			"null is no object"},
		{"world with legs", file(`{"tag":"tally","version":1,"params":{},"legs":[`+tallyLeg+`,`+tallyLeg+`]}`, `[]`), nil, "/env/legs: only",
			"3.4"},
		{"world with no legs", file(`{"tag":"tally","version":1,"params":{},"legs":[]}`, `[]`), nil, "/env/legs: empty", "one way to write it"},

		{"tag", stacked(blockFile, entry("blocks", `{}`)), components.ErrUnknownTag, `/stack/1/tag: components: unknown tag "blocks"`, "strict"},
		{"hook as tag", stacked(entry("setup_initial_state", `{}`)), components.ErrUnknownTag, "/stack/0/tag", "7.1 case 4"},
		{"chain as entry", stacked(entry("chain", `{}`)), nil, "/stack/0/params: a chain is a world", "K21"},
		{"version", stacked(`{"tag":"block","version":2,"id":"b","params":{}}`), components.ErrVersion, "/stack/0/version", "strict"},
		{"version of an entry 0", stacked(`{"tag":"block","version":0,"id":"b","params":{}}`), components.ErrVersion, "/stack/0/version",
			"strict"},
		{"entry id empty", stacked(`{"tag":"block","version":1,"id":"","params":{}}`), nil, "/stack/0/id: empty", "one way to write it"},
		{"entry id twice", stacked(blockFile, blockFile), nil, `/stack/1/id: "block" is also that of 0`, "3.8"},
		{"entry id twice, tags apart", file(tallyEnv, "["+blockFile+`,{"tag":"step_budget","version":1,"id":"block","params":{"turns":1}}]`), nil,
			`/stack/1/id`, "2.5: an id has one stream"},
		{"param", stacked(entry("block", `{"setup_initial_state":"pass"}`)), components.ErrUnknownParam,
			"/stack/0/params/setup_initial_state", "7.1 case 4"},
		{"param inside", stacked(entry("start_replay", `{"actions":[{"name":"get","kwargs":{}}]}`)), components.ErrUnknownParam,
			"/stack/0/params/actions/0/kwargs", "the reference calls them so"},
		{"param of the chain", file(chainOf(`{"mode":"submitted"}`, tallyLeg, tallyLeg), `[]`), components.ErrUnknownParam, "/env/params/mode",
			"strict"},
		{"param case", stacked(entry("step_budget", `{"Turns":3}`)), components.ErrUnknownParam, "/stack/0/params/Turns", "names have a case"},
		{"param key", stacked(entry("block", `{"`+long+`/~":1}`)), components.ErrUnknownParam, strings.Repeat("k", 80) + "...:", "kept short"},
		{"param escapes", stacked(entry("block", `{"a/b~c":1}`)), components.ErrUnknownParam, "/stack/0/params/a~1b~0c:", "RFC 6901"},
		{"param missing", stacked(entry("step_budget", `{}`)), nil, "/stack/0/params: turns 0", "the budget has no default"},
		{"param out of range", stacked(entry("step_budget", `{"turns":-3}`)), nil, "/stack/0/params: turns -3", "at least 1"},
		{"param overflow", stacked(entry("step_budget", `{"turns":1e30}`)), nil, "/stack/0/params", "no int"},
		{"param fraction", stacked(entry("step_budget", `{"turns":2.5}`)), nil, "/stack/0/params", "no int"},
		{"param null", stacked(entry("step_budget", `{"turns":null}`)), nil, "/stack/0/params/turns: null", "encoding/json takes it for 0"},
		{"param type", stacked(entry("block", `{"tools":"get"}`)), nil, "/stack/0/params", "a list"},
		{"param 1e400", stacked(entry("permission", `{"grant":{"tool":"get","args":{"n":1e400}}}`)), nil,
			"/stack/0/params/grant/args/n: number 1e400", "out of range"},
		{"param 2^53+1", stacked(entry("permission", `{"grant":{"tool":"get","args":{"n":9007199254740993}}}`)), nil,
			"/grant/args/n: number 9007199254740993 would be rounded", "a float64 cannot hold it"},
		{"params null", stacked(entry("block", `null`)), nil, "/stack/0/params: not a JSON object", "null is no object"},
		{"params list", stacked(entry("block", `[]`)), nil, "/stack/0/params: not a JSON object", "no object"},

		{"order", stacked(blockFile, entry("start_replay", `{}`)), envharness.ErrOrder, `/stack: `, "worked example 1"},
		{"budget inside", stacked(entry("step_budget", `{"turns":2}`), blockFile), envharness.ErrOrder, `/stack: `, "3.5"},
		{"start around a chain", file(chainOf(`{}`, tallyLeg, tallyLeg), "["+entry("start_replay", `{}`)+"]"), envharness.ErrOrder, `/stack: `,
			"3.5"},
		{"order in a leg", file(chainOf(`{}`, tallyLeg, leg(tallyEnv, "["+blockFile+","+entry("start_replay", `{}`)+"]")), `[]`),
			envharness.ErrOrder,
			`/env/legs/1/stack: `, "3.5"},
		{"one leg", file(chainOf(`{}`, tallyLeg), `[]`), nil, "at least 2", "3.4"},
		{"no legs", file(`{"tag":"chain","params":{}}`, `[]`), nil, "at least 2", "3.4"},
		{"chain version", file(`{"tag":"chain","version":2,"params":{},"legs":[`+tallyLeg+`,`+tallyLeg+`]}`, `[]`), components.ErrVersion,
			"/env/version", "1"},
		{"chain version below", file(`{"tag":"chain","version":-1,"params":{},"legs":[`+tallyLeg+`,`+tallyLeg+`]}`, `[]`), components.ErrVersion,
			"/env/version", "1"},
		{"carry", file(chainOf(`{"carry":-1}`, tallyLeg, tallyLeg), `[]`), nil, "/env: ", "not negative"},
		{"carry null", file(chainOf(`{"carry":null}`, tallyLeg, tallyLeg), `[]`), nil, "/env/params/carry: null", "leave it out"},
		{"seed of a leg", file(chainOf(`{}`, tallyLeg, file(tallyEnv, `[]`)), `[]`), nil, "/env/legs/1/task", "3.4: it follows from the chain's"},
		{"split of a leg", file(chainOf(`{}`, tallyLeg, strings.Replace(tallyLeg, `"id":""`, `"id":"","split":"x"`, 1)), `[]`), nil,
			"/env/legs/1/task", "a leg takes an id"},
		{"family of a leg", file(chainOf(`{}`, tallyLeg, strings.Replace(tallyLeg, `"id":""`, `"id":"","family":"x"`, 1)), `[]`), nil,
			"/env/legs/1/task", "a leg takes an id"},
		{"tag in a leg", file(chainOf(`{}`, tallyLeg, leg(tallyEnv, "["+entry("x", `{}`)+"]")), `[]`), components.ErrUnknownTag,
			"/env/legs/1/stack/0/tag", "recursive"},

		{"1,000 chains", deepChain, nil, "nested deeper than 200", "7.1: bounded"},
		{"9 chains", chains9, nil, "more than 8 chains", "bounded"},
		{"nested meta", bare(`"env"`, `"meta":`+strings.Repeat(`{"a":`, 200)+`1`+strings.Repeat(`}`, 200)+`,"env"`), nil,
			"nested deeper than 200", "201 with the file itself"},
		{"large", file(tallyEnv, `[]`) + strings.Repeat(" ", 1<<20), nil, "more than 1048576", "bounded before it is read"},
		{"large when written out", bare(`"env"`, `"meta":{"a":[1e300`+strings.Repeat(`,1e300`, 5000)+`]},"env"`), nil,
			"more than 1048576", "each 301 digits in canonical form"},
	}
	r := withTally(t, components.Catalogue())
	for _, tt := range tests {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.name)
		}
		s, err := r.Decode([]byte(tt.data))
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %.300v, want %v with %q (%s)", tt.name, err, tt.is, tt.want, tt.reason)
		}
		if err != nil && len(err.Error()) > 600 {
			t.Errorf("%s: the error has %d bytes", tt.name, len(err.Error()))
		}
		if d := gocmp.Diff(components.Spec{}, s); d != "" {
			t.Errorf("%s: a specification beside the error:\n%s", tt.name, d)
		}
	}
}

// canonical is the oracle of Encode.
func canonical(t testing.TB, data string) string {
	t.Helper()
	raw, err := envharness.CanonicalJSON(json.RawMessage(data))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestDecodeAccepts(t *testing.T) {
	chains8 := tallyLeg
	for range 7 {
		chains8 = leg(chainOf(`{}`, tallyLeg, chains8), `[]`)
	}
	chains8 = file(chainOf(`{}`, tallyLeg, chains8), `[]`)
	tests := []struct {
		name, data string
		reason     string
	}{
		{"empty stack", file(tallyEnv, `[]`), "the bare world"},
		{"unordered", `{"stack": [], "task": {"seed": 1, "id": "a"}, "env": ` + tallyEnv + `, "schema_version": 1.0, "meta": {}}`,
			"2.6: keys are sorted"},
		{"seed 2^53+1", bare(`7`, `9007199254740993`), "not through a float64"},
		{"seed 2^64-1", bare(`7`, `18446744073709551615`), "the largest"},
		{"seed 0", bare(`7`, `0`), "zero is a seed, unlike none"},
		{"seed 7e0", bare(`7`, `7e0`), "the integer 7"},
		{"no seed", leg(tallyEnv, `[]`), "may be left out"},
		{"task", bare(`"seed":7`, `"split":"test","family":"f"`), "all of a Task"},
		{"HTML", bare(`"id":""`, `"id":"<a href='x'>&\u003c\u2028"`), "2.6: no HTML escaping"},
		{"keys", bare(`"env"`, `"meta":{"\u00e9":1,"e\u0301":2,"😀":3,"<":4,"":5,"\u0000":6,"a/b~c":7},"env"`),
			"keys are bytes: two forms of é are two keys"},
		{"numbers", bare(`"env"`, `"meta":{"a":[1.0,-0,1e3,1e-7,0.1,123456789012345678901234567890,1e300]},"env"`),
			"2.6: shortest form"},
		{"surrogate", bare(`"id":""`, `"id":"\ud800"`), "becomes U+FFFD in the canonical form too"},
		{"chain",
			file(
				chainOf(`{"carry":0,"stop_on_fail":true}`, tallyLeg, leg(tallyEnv, "["+blockFile+"]")),
				"["+entry("step_budget", `{"turns":5}`)+"]"), "3.4"},
		{"chain version", file(`{"tag":"chain","version":1,"params":{},"legs":[`+tallyLeg+`,`+tallyLeg+`]}`, `[]`), "may be there"},
		{"chain of chains", file(chainOf(`{}`, leg(chainOf(`{}`, tallyLeg, tallyLeg), `[]`), tallyLeg), `[]`), "recursive"},
		{"8 chains", chains8, "the bound"},
		{"id", stacked(`{"tag":"block","version":1,"id":"no <stop>/é","params":{}}`, blockFile), "ids are free"},
		{"nested meta", bare(`"env"`, `"meta":`+strings.Repeat(`{"a":`, 199)+`1`+strings.Repeat(`}`, 199)+`,"env"`), "the bound"},
	}
	r := withTally(t, components.Catalogue())
	for _, tt := range tests {
		s, err := r.Decode([]byte(tt.data))
		if err != nil {
			t.Errorf("%s: %v (%s)", tt.name, err, tt.reason)
			continue
		}
		raw, err := s.Encode()
		if want := canonical(t, tt.data); err != nil || string(raw) != want {
			t.Errorf("%s: %v\n got %s\nwant %s (%s)", tt.name, err, raw, want, tt.reason)
		}
		if _, _, _, err := r.Build(s); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// What Encode fills in for a literal.
func TestEncodeFillsIn(t *testing.T) {
	alone := components.Spec{Env: components.EnvSpec{Tag: "tally"}}
	s := components.Spec{
		Env: components.EnvSpec{Tag: "chain", Legs: []components.Spec{alone, alone}},
		Stack: []components.Entry{
			{Tag: "block", ID: "block#2"}, {Tag: "block", Params: json.RawMessage(" ")},
			{Tag: "step_budget", Params: json.RawMessage(`{"turns": 3}`)},
		},
	}
	before := fmt.Sprintf("%+v", s.Env)
	if _, err := s.Encode(); err == nil {
		t.Error("the second block has the id of the first by default")
	}
	s.Stack[0].ID = ""
	stack := slices.Clone(s.Stack)
	got, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"env":{"legs":[{"env":{"params":{},"tag":"tally","version":1},"schema_version":1,"stack":[],"task":{"id":""}},` +
		`{"env":{"params":{},"tag":"tally","version":1},"schema_version":1,"stack":[],"task":{"id":""}}],"params":{},"tag":"chain"},` +
		`"schema_version":1,"stack":[{"id":"block","params":{},"tag":"block","version":1},` +
		`{"id":"block#2","params":{},"tag":"block","version":1},` +
		`{"id":"step_budget","params":{"turns":3},"tag":"step_budget","version":1}],"task":{"id":""}}`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if after := fmt.Sprintf("%+v", s.Env); after != before {
		t.Errorf("changed by Encode:\n%s\n%s", before, after)
	}
	if d := gocmp.Diff(stack, s.Stack); d != "" {
		t.Errorf("changed by Encode (-before +after):\n%s", d)
	}
}

func TestEncodeRefuses(t *testing.T) {
	alone := components.Spec{Env: components.EnvSpec{Tag: "tally"}}
	round := components.Spec{Env: components.EnvSpec{Tag: "chain", Legs: make([]components.Spec, 2)}}
	round.Env.Legs[0], round.Env.Legs[1] = round, round
	tests := []struct {
		name   string
		change func(*components.Spec)
		want   string
		reason string
	}{
		{"nothing", func(*components.Spec) {}, "", "the world alone"},
		{"version", func(s *components.Spec) { s.SchemaVersion = 2 }, "/schema_version", "3.8"},
		{"cycle", func(s *components.Spec) { *s = round }, "more than 8 chains", "a slice can hold itself"},
		{"legs", func(s *components.Spec) { s.Env.Legs = []components.Spec{alone} }, "/env/legs", "only a chain has legs"},
		{"leg seed", func(s *components.Spec) {
			b := alone
			b.Task.Seed = new(uint64(1))
			s.Env = components.EnvSpec{Tag: "chain", Legs: []components.Spec{alone, b}}
		}, "/env/legs/1/task", "it follows from the chain's"},
		{"params", func(s *components.Spec) { s.Env.Params = json.RawMessage(`{`) }, "/env/params", "broken"},
		{"params null", func(s *components.Spec) { s.Env.Params = json.RawMessage(`null`) }, "/env/params", "no object"},
		{"params twice", func(s *components.Spec) {
			s.Stack = []components.Entry{{Tag: "x", Params: json.RawMessage(`{"a":1,"a":2}`)}}
		},
			"/stack/0/params/a", "the last would win"},
		{"two values", func(s *components.Spec) {
			s.Stack = []components.Entry{{Tag: "x", Params: json.RawMessage(`{},"y":{}`)}}
		},
			"/stack/0/params", "would break out"},
		{"meta", func(s *components.Spec) { s.Meta = json.RawMessage(`3`) }, "/meta", "no object"},
		{"id", func(s *components.Spec) { s.Stack = []components.Entry{{Tag: "x"}, {Tag: "y", ID: "x"}} }, "/stack/1/id", "twice"},
		{"deep", func(s *components.Spec) {
			s.Meta = json.RawMessage(strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200))
		}, "nested deeper", "201 with the file itself"},
		{"large", func(s *components.Spec) { s.Task.ID = strings.Repeat("x", 1<<20) }, "more than 1048576", "Decode would refuse it"},
	}
	for _, tt := range tests {
		s := alone
		tt.change(&s)
		_, err := s.Encode()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %.200v, want %q (%s)", tt.name, err, tt.want, tt.reason)
		}
		if _, hashErr := s.Hash(); (hashErr == nil) != (err == nil) {
			t.Errorf("%s: hash: %.200v", tt.name, hashErr)
		}
	}
}

// Worked example 12: the hash is that of the canonical bytes, so it depends on what is said and not on how.
func TestHash(t *testing.T) {
	r := withTally(t, components.Catalogue())
	hash := func(data string) string {
		t.Helper()
		s, err := r.Decode([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		h, err := s.Hash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	// echo -n '{"env":{"params":{},"tag":"tally","version":1},"schema_version":1,"stack":[],"task":{"id":"","seed":7}}' | sha256sum
	const want = "b2c5be12a21c97160e7337b6e33cadd4f59b88b93560ec9302ac60cc38420fb3"
	if got := hash(file(tallyEnv, `[]`)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := hash(" " + strings.ReplaceAll(file(tallyEnv, `[]`), ",", " ,\n")); got != want {
		t.Errorf("other spaces: %s", got)
	}
	if got := hash(bare(`7`, `8`)); got == want {
		t.Error("another seed, the same hash")
	}
}

// An id stands in the record and draws its own stream; a component under its default id is not wrapped.
func TestIDs(t *testing.T) {
	r := withTally(t, components.Catalogue())
	s := components.Spec{Env: components.EnvSpec{Tag: "tally"}, Stack: []components.Entry{
		{Tag: "block"}, {Tag: "block"}, {Tag: "step_budget", ID: "cap", Params: json.RawMessage(`{"turns":1}`)},
	}}
	w, stack, _, err := r.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := stack[1].(components.Block); !ok || stack[2].Spec().ID != "cap" {
		t.Errorf("built %T and %+v", stack[1], stack[2].Spec())
	}
	h, err := envharness.New(w, stack...)
	if err != nil {
		t.Fatal(err)
	}
	if got := play(t, h, "get"); got != "permission/budget:cap" {
		t.Errorf("ended by %q", got)
	}
	entries, err := r.Entries(stack...)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	if d := gocmp.Diff([]string{"block", "block#2", "cap"}, ids); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// a component's own fault is still found under another id
	if _, err := envharness.New(w, named(t, r, "step_budget", `{"turns":1}`)); err != nil {
		t.Error(err)
	}
}

// named builds one component under the id "own".
func named(t *testing.T, r *components.Registry, tag, params string) envharness.Component {
	t.Helper()
	_, stack, _, err := r.Build(components.Spec{
		Env: components.EnvSpec{Tag: "tally"}, Stack: []components.Entry{{Tag: tag, ID: "own", Params: json.RawMessage(params)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return stack[0]
}

// class is the rank of a kind in a stack.
func class(t rapid.TB, tag string) int {
	k, ok := components.Catalogue().Kind(tag)
	if !ok {
		t.Fatalf("no kind %q", tag)
	}
	switch k.Axis {
	case envharness.AxisStart:
		return 0
	case envharness.AxisBudget:
		return 2
	}
	return 1
}

// drawSpec draws a specification over the catalogue, a chain up to the given depth.
func drawSpec(rt *rapid.T, entries []components.Entry, depth int) components.Spec {
	var s components.Spec
	s.Task.ID = rapid.SampledFrom([]string{"", "a", "<é>"}).Draw(rt, "task")
	if depth > 0 && rapid.IntRange(0, 3).Draw(rt, "chain") == 0 {
		s.Env = components.EnvSpec{Tag: "chain", Params: json.RawMessage(rapid.SampledFrom([]string{
			`{}`, `{"carry":0}`, `{"until_end":true}`, `{"stop_on_fail":true,"max_turns":4}`, `{"no_context":true}`,
		}).Draw(rt, "options"))}
		for range rapid.IntRange(2, 3).Draw(rt, "legs") {
			s.Env.Legs = append(s.Env.Legs, drawSpec(rt, entries, depth-1))
		}
		s.Task.ID = ""
	} else {
		s.Env = components.EnvSpec{Tag: "tally", Params: json.RawMessage(rapid.SampledFrom([]string{``, `{}`, `{"goal":3}`}).Draw(rt, "goal"))}
	}
	for _, e := range rapid.SliceOfN(rapid.SampledFrom(entries), 0, 4).Draw(rt, "stack") {
		if rapid.Bool().Draw(rt, "own id") {
			e.ID = fmt.Sprintf("%s-%d", e.Tag, len(s.Stack))
		}
		s.Stack = append(s.Stack, e)
	}
	if rapid.IntRange(0, 4).Draw(rt, "sorted") > 0 {
		slices.SortStableFunc(s.Stack, func(a, b components.Entry) int { return cmp.Compare(class(rt, a.Tag), class(rt, b.Tag)) })
		if s.Env.Tag == "chain" {
			s.Stack = slices.DeleteFunc(s.Stack, func(e components.Entry) bool { return class(rt, e.Tag) == 0 })
		}
	}
	if rapid.Bool().Draw(rt, "meta") {
		s.Meta = json.RawMessage(`{"by":"hand", "n":1.50}`)
	}
	return s
}

// allEntries has an entry for each kind of the catalogue with each of its rungs.
func allEntries(t testing.TB) []components.Entry {
	var out []components.Entry
	for _, k := range kinds() {
		for _, params := range built(t, k) {
			out = append(out, components.Entry{Tag: k.Tag, Params: params})
		}
	}
	return out
}

// For every specification that can be built: encode(decode(encode(s))) == encode(s), and both build what gives equal traces; so does the
// stack that was built, written from the live components.
func TestRoundTrip(t *testing.T) {
	r := withTally(t, components.Catalogue())
	entries := allEntries(t)
	played, invalid := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSpec(rt, entries, 2)
		s.Task.Seed = new(rapid.Uint64().Draw(rt, "seed"))
		raw, err := s.Encode()
		if err != nil {
			rt.Fatal(err)
		}
		w, stack, task, err := r.Build(s)
		back, decodeErr := r.Decode(raw)
		if (err == nil) != (decodeErr == nil) {
			rt.Fatalf("built: %v, decoded: %v", err, decodeErr)
		}
		if err != nil {
			if !errors.Is(err, envharness.ErrOrder) || !errors.Is(decodeErr, envharness.ErrOrder) {
				rt.Fatal(err) // all else is drawn to be right
			}
			return
		}
		again, err := back.Encode()
		if err != nil || !bytes.Equal(raw, again) {
			rt.Fatalf("%v\n%s\n%s", err, raw, again)
		}
		if task.ID != s.Task.ID || *task.Seed != *s.Task.Seed {
			rt.Fatalf("task %+v", task)
		}
		if w.New == nil {
			rt.Fatal("no world")
		}
		traces := tracesOf(t, r, s)
		if got := tracesOf(t, r, back); got != traces {
			rt.Fatalf("decoded, the traces differ:\n%s", gocmp.Diff(traces, got))
		}
		live := back
		if live.Stack, err = r.Entries(stack...); err != nil {
			rt.Fatal(err)
		}
		if got := tracesOf(t, r, live); got != traces {
			rt.Fatalf("from the live stack, the traces differ:\n%s", gocmp.Diff(traces, got))
		}
		played++
		if strings.Contains(traces, `"status":"invalid"`) {
			invalid++
		}
	})
	t.Logf("%d played, %d of them invalid", played, invalid)
	if !testing.Short() && (played < 20 || invalid > played*3/4) { // few draws show less
		t.Errorf("%d specifications were played, %d of them to no verdict", played, invalid)
	}
}

// What is built is what would be written by hand: the world, its parameters and task, the stack, and for a chain its legs and options.
func TestBuildByHand(t *testing.T) {
	r := withTally(t, components.Catalogue())
	plain, err := r.Decode([]byte(strings.Replace(stacked(
		entry("block", `{"tools":["get"]}`), entry("step_budget", `{"turns":4}`)), `"id":"",`, `"id":"abc",`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	stack := []envharness.Component{components.Block{Tools: []string{"get"}}, components.StepBudget{Turns: 4}}
	task := envharness.Task{ID: "abc", Seed: new(uint64(7))}
	if d := gocmp.Diff(tracesIn(t, tallyWorld(6), stack, task), tracesOf(t, r, plain)); d != "" {
		t.Errorf("stack (-by hand +built):\n%s", d)
	}
	legs := []envharness.Leg{
		{World: tallyWorld(3), Components: stack, Task: "ab"},
		{World: tallyWorld(6), Components: stack[1:]},
	}
	for params, o := range map[string]envharness.LinkOptions{
		`{}`:                    {},
		`{"until_end":true}`:    {UntilEnd: true},
		`{"stop_on_fail":true}`: {StopOnFail: true},
		`{"carry":3}`:           {Carry: new(3)},
		`{"carry":0}`:           {Carry: new(0)},
		`{"no_context":true}`:   {NoContext: true},
		`{"max_turns":3}`:       {MaxTurns: 3},
	} {
		budget := entry("step_budget", `{"turns":4}`)
		first := leg(`{"tag":"tally","version":1,"params":{"goal":3}}`, "["+entry("block", `{"tools":["get"]}`)+","+budget+"]")
		first = strings.Replace(first, `"id":""`, `"id":"ab"`, 1)
		s, err := r.Decode([]byte(file(chainOf(params, first, leg(tallyEnv, "["+budget+"]")), "["+blockFile+"]")))
		if err != nil {
			t.Fatal(err)
		}
		w, err := envharness.Link(legs, &o)
		if err != nil {
			t.Fatal(err)
		}
		around := []envharness.Component{components.Block{}}
		if params != `{}` { // which would never get to the second leg
			s.Stack, around = nil, nil
		}
		if d := gocmp.Diff(tracesIn(t, w, around, envharness.Task{Seed: new(uint64(7))}), tracesOf(t, r, s)); d != "" {
			t.Errorf("chain with %s (-by hand +built):\n%s", params, d)
		}
	}
}

// Worked example 1, read from a file: a replayed start and, outside it, a block; the other way round it is refused.
func TestWorkedExample1(t *testing.T) {
	r := catalogue()
	const (
		env    = `{"tag":"game24","version":1,"params":{}}`
		replay = `{"tag":"start_replay","version":1,"id":"s","params":{"actions":[{"name":"combine","args":{"i":1,"j":2,"op":"mul"}}]}}`
		block  = `{"tag":"block","version":1,"id":"b","params":{"tools":["combine"],"args":{"op":"mul"}}}`
	)
	game := func(stack string) string {
		return strings.Replace(file(env, stack), `"id":"",`, `"id":"3,3,7,7",`, 1)
	}
	if _, err := r.Decode([]byte(game("[" + block + "," + replay + "]"))); !errors.Is(err, envharness.ErrOrder) {
		t.Errorf("replay outside block: %v", err)
	}
	s, err := r.Decode([]byte(game("[" + replay + "," + block + "]")))
	if err != nil {
		t.Fatal(err)
	}
	w, stack, task, err := r.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	h, err := envharness.New(w, stack...)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	first, err := h.Reset(t.Context(), envharness.ResetOptions{Task: task.ID, Seed: task.Seed})
	if err != nil || first.Text != "target=24, numbers=[3, 7, 21]" {
		t.Fatalf("start %q, %v", first.Text, err)
	}
	shown, err := h.Step(t.Context(), envharness.Action{Name: "combine", Args: json.RawMessage(`{"i":0,"j":1,"op":"mul"}`)})
	if err != nil || !strings.HasPrefix(shown.Observation.Text, "[blocked] ") {
		t.Errorf("mul: %q, %v", shown.Observation.Text, err)
	}
	e, err := h.Evidence(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for _, l := range e.Log {
		if l.Kind == envharness.LogReplay || l.Kind == envharness.LogStep {
			steps++
		}
	}
	if steps != 1 {
		t.Errorf("the base was stepped %d times, want once", steps)
	}
}

// The task that was built is the caller's to change.
func TestBuildCopiesTheSeed(t *testing.T) {
	s := components.Spec{Env: components.EnvSpec{Tag: "tally"}, Task: envharness.Task{Seed: new(uint64(7))}}
	_, _, task, err := withTally(t, components.Catalogue()).Build(s)
	if err != nil {
		t.Fatal(err)
	}
	if *task.Seed++; *s.Task.Seed != 7 {
		t.Errorf("seed %d, want 7", *s.Task.Seed)
	}
}

// A world without a verifier is a fault of the world, not of the stack.
func TestFaultyWorld(t *testing.T) {
	r := components.NewRegistry()
	err := r.AddWorld("half", 1, func(json.RawMessage) (envharness.World, error) { return envharness.World{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Decode([]byte(file(`{"tag":"half","version":1,"params":{}}`, `[]`)))
	if err == nil || !strings.Contains(err.Error(), "/env: ") {
		t.Errorf("accepted: %v", err)
	}
}
