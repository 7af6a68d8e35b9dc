package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/throughline-go/throughline/examples/internal/method"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/token"
)

// try runs the program on an input.
func try(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// must is try for what succeeds.
func must(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	code, stdout, stderr := try(t, stdin, args...)
	if code != 0 {
		t.Fatalf("%q: exit code %d: %s", args, code, stderr)
	}
	return stdout
}

func file(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func parse(t *testing.T, lines string) (rows []token.Row) {
	t.Helper()
	for row, err := range token.ReadRows(strings.NewReader(lines)) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// results returns the columns that the program writes.
func results(rows []token.Row) (out []token.Row) {
	for _, r := range rows {
		out = append(out, token.Row{ID: r.ID, Advantages: r.Advantages, Returns: r.Returns, TurnAdvantages: r.TurnAdvantages,
			ValueTargets: r.ValueTargets, QTargets: r.QTargets, NoVote: r.NoVote})
	}
	return out
}

// The examples of the documentation are the files in testdata, and the output is what the program makes of them.
func TestDoc(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	const options = `{"Norm": {"Std": "none"}}`
	if !strings.Contains(string(doc), "-method gigpo -options '"+options+"'") {
		t.Error("the command is another one")
	}
	for _, name := range []string{"rows", "trajectories"} {
		in, want := file(t, name+".jsonl"), file(t, name+".golden")
		if diff := cmp.Diff(want, must(t, in, "-method", "gigpo", "-options", options)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for line := range strings.Lines(in + want) {
			if !strings.Contains(string(doc), "\n//\t"+line) {
				t.Errorf("%s: the documentation lacks %s", name, line)
			}
		}
	}
}

// E11 of the specification, with masks in every spelling, turns by mask and by column, rewards per token and per turn, and
// one trajectory as a row for each turn.
func TestE11(t *testing.T) {
	alf := [][]float64{{1.314532, 1.802551, 1.095445}, {.949387, 2.250145, 1.095445}, {-.511210, -1.437403, -.730297}, {-.876355, -1.307646}, {-1.307646}, {-.876355}}
	web := [][]float64{{6.097711, 8.145036, 6}, {5.934859, 8.942529, 6}, {-3.902289, -6.145036, -4}, {-4.065141, -5.471264}, {-5.471264}, {-4.065141}}
	spread := func(a [][]float64) [][]float64 { // over the tokens of testdata/e11.jsonl
		return [][]float64{{0, a[0][0], 0, a[0][1], a[0][1], 0, a[0][2]}, {0, a[1][0], 0, a[1][1], 0, a[1][2]}, {0, a[2][0], 0, a[2][1], 0, a[2][2]}, a[3],
			{0, a[4][0]}, {0, a[5][0], 0, 0}}
	}
	rows := parse(t, file(t, "e11.jsonl"))
	batch, err := token.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	var trajectories bytes.Buffer
	if err := rl.WriteTrajectories(&trajectories, batch); err != nil {
		t.Fatal(err)
	}
	near := cmpopts.EquateApprox(0, 1.1e-6) // the table has six decimals
	for name, want := range map[string][][]float64{"milegpo": alf, "milegpo-webshop": web} {
		var turns, tokens [][]float64
		for _, r := range parse(t, must(t, file(t, "e11.jsonl"), "-method", name)) {
			turns, tokens = append(turns, r.TurnAdvantages), append(tokens, r.Advantages)
		}
		if diff := cmp.Diff(want, turns, near); diff != "" {
			t.Errorf("%s, turns (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(spread(want), tokens, near); diff != "" {
			t.Errorf("%s, tokens (-want +got):\n%s", name, diff)
		}
		want[4] = []float64{want[5][0], want[4][0]}
		turns = nil
		for _, r := range parse(t, must(t, trajectories.String(), "-method", name)) {
			turns = append(turns, r.TurnAdvantages)
		}
		if diff := cmp.Diff(want[:5], turns, near); diff != "" {
			t.Errorf("%s, trajectories (-want +got):\n%s", name, diff)
		}
	}
}

// everything has all that any method reads: two groups, states that repeat, both critics, a truncation, an invalid turn, a
// trajectory that is dropped, an excluded turn, and one without a trainable token.
const everything = `{"id":"a","group":"t","final_state":"end","mask":[0,1,1,0,1],"values":[0,0.1,0.2,0,0.3],"states":["s","u"],"turn_rewards":[0,1],"turn_values":[0.5,0.75],"turn_qvalues":[0.25,0.5],"invalid":[1,0]}
{"id":"b","group":"t","final_state":"end","mask":[0,1,0,0,1],"values":[0,0.1,0,0,0.4],"states":["s","v"],"turn_rewards":[0,0.5],"turn_values":[0.5,0.25],"turn_qvalues":[0.25,0.25]}
{"id":"c","group":"t","final_state":"v","end":"truncated","final_value":0.5,"mask":[0,1,1,0,1],"values":[0,0.5,0.25,0,0],"states":["s","s"],"turn_rewards":[0,0],"turn_values":[0.5,0.25],"turn_qvalues":[0.5,0.25]}
{"id":"d","group":"w","final_state":"x","mask":[1,0,1],"values":[0.5,0,0.25],"states":["s","u"],"turn_rewards":[1,0],"turn_values":[0,0],"turn_qvalues":[0,0.5],"success":true}
{"id":"e","group":"w","final_state":"y","mask":[1,0,1],"values":[0.5,0,0.25],"states":["s","u"],"turn_rewards":[0,-1],"turn_values":[0,0],"turn_qvalues":[0,0.5],"success":false,"excluded":[0,1]}
{"id":"f","group":"w","mask":[1],"turn_rewards":[5],"drop":"crashed"}
{"id":"g","group":"w","mask":[0],"turn_rewards":[5]}
`

// Every method gives, by rows and by trajectories, the numbers of its estimator.
func TestMethods(t *testing.T) {
	rows := parse(t, everything)
	batch, err := token.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	var trajectories bytes.Buffer
	if err := rl.WriteTrajectories(&trajectories, batch); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, m := range method.All() {
		estimate, err := method.New(m.Name, "")
		if err != nil {
			t.Fatal(err)
		}
		c, err := estimate(nil, batch)
		if err != nil {
			t.Fatal(err)
		}
		if err := token.SetCredit(rows, batch, c); err != nil {
			t.Fatal(err)
		}
		code, out, warnings := try(t, everything, "-method", m.Name)
		if code != 0 || warnings != "" {
			t.Errorf("%s: exit code %d, %s", m.Name, code, warnings)
		}
		if diff := cmp.Diff(rows, parse(t, out)); diff != "" {
			t.Errorf("%s, rows (-want +got):\n%s", m.Name, diff)
		}
		got := must(t, trajectories.String(), "-method", m.Name)
		if diff := cmp.Diff(results(rows), parse(t, got)); diff != "" {
			t.Errorf("%s, trajectories (-want +got):\n%s", m.Name, diff)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s give the same", m.Name, other)
		}
		seen[got] = m.Name
	}
}

// The options of -list, given back, change nothing.
func TestList(t *testing.T) {
	n := 0
	for line := range strings.Lines(must(t, "not read", "-list")) {
		var m struct {
			Method, Reads, Doc string
			Options            json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if want := method.All()[n]; m.Method != want.Name || m.Reads != want.Reads || !strings.HasSuffix(m.Doc, "Options") {
			t.Errorf("got %+v, want %+v", m, want)
		}
		n++
		if diff := cmp.Diff(must(t, everything, "-method", m.Method), must(t, everything, "-method", m.Method, "-options", string(m.Options))); diff != "" {
			t.Errorf("%s (-without +with options):\n%s", m.Method, diff)
		}
	}
	if n != len(method.All()) {
		t.Errorf("%d methods are listed", n)
	}
}

// Masks in all spellings are one.
func TestMask(t *testing.T) {
	const in = `{"group":"g","mask":[0,1,1,0,1],"turn_rewards":[0,1]}` + "\n" + `{"group":"g","mask":[1,0,0,0,1],"turn_rewards":[0,0]}` + "\n"
	want := must(t, in, "-method", "grpo")
	for _, spelling := range [][2]string{{"false", "true"}, {"0.0", "1.0"}, {"0", "true"}} {
		var other strings.Builder
		for line := range strings.Lines(in) {
			before, rest, _ := strings.Cut(line, `[`)
			mask, after, _ := strings.Cut(rest, `]`)
			other.WriteString(before + "[" + strings.NewReplacer("0", spelling[0], "1", spelling[1]).Replace(mask) + "]" + after)
		}
		if diff := cmp.Diff(want, must(t, other.String(), "-method", "grpo")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", spelling, diff)
		}
	}
}

// Columns that are not ours come back as they were, an earlier result does not.
func TestOtherColumns(t *testing.T) {
	const in = `{"obs":{"b":[1,{"c":null}],"a":"é😀\u2028</"},"mask":[1],"big":123456789012345678901234567890.50,"group":"g","none":null,"advantages":[7,8,9],"no_vote":"old","ids":[3]}`
	const want = `{"group":"g","ids":[3],"mask":[1],"advantages":[0.0],"turn_advantages":[0.0],"big":123456789012345678901234567890.50,"none":null,"obs":{"b":[1,{"c":null}],"a":"é😀\u2028</"}}`
	if diff := cmp.Diff(want+"\n", must(t, in, "-method", "grpo", "-lenient")); diff != "" { // no newline at the end of in
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFormat(t *testing.T) {
	tests := []struct {
		line, want, reason string
	}{
		{`{"mask":[1]}`, formatRows, "a mask"},
		{`{"mask":[1],"turns":[0]}`, formatRows, "both"},
		{`{"turn_rewards":[1]}`, formatRows, "neither"},
		{`{"turns":[{"end":"terminated"}]}`, formatTrajectories, "turns alone"},
		{`{"turns":[],"excluded":"crashed"}`, formatTrajectories, "none of them"},
		{`{"Turns":[]}`, formatRows, "names are exact"},
		{`{"values":[NaN]}`, formatRows, "no JSON"},
		{`[]`, formatRows, "no object"},
		{`{`, formatRows, "half an object"},
	}
	for _, tt := range tests {
		if got := detect([]byte(tt.line)); got != tt.want {
			t.Errorf("%s is %s, want %s: %s", tt.line, got, tt.want, tt.reason)
		}
	}
	const both = `{"turns":[],"turn_rewards":[1]}` // a row with an empty column
	if _, _, stderr := try(t, both, "-method", "grpo"); !strings.Contains(stderr, "(read as trajectories, see -in)") {
		t.Errorf("printed %q", stderr)
	}
	if _, _, stderr := try(t, both, "-method", "grpo", "-in", "trajectories"); stderr == "" || strings.Contains(stderr, "see -in") {
		t.Errorf("printed %q, but -in is given", stderr)
	}
	if got := must(t, both, "-method", "grpo", "-in", "rows", "-lenient"); !strings.Contains(got, `"turn_advantages":[0.0]`) {
		t.Errorf("printed %q", got)
	}
}

// Each batch between empty lines has the credit that it has alone.
func TestBatches(t *testing.T) {
	first, second := file(t, "rows.jsonl"), everything
	a, b := must(t, first, "-method", "gigpo"), must(t, second, "-method", "gigpo")
	tests := []struct {
		name, in, want, reason string
	}{
		{"two", first + "\n" + second + "\n", a + "\n" + b + "\n", "an answer each"},
		{"open end", first + "\n" + second, a + "\n" + b + "\n", "the end of the input ends a batch"},
		{"no newline", first + "\n" + strings.TrimSuffix(second, "\n"), a + "\n" + b + "\n", "nor is the last newline needed"},
		{"empty", "\n" + first + "\n\n", "\n" + a + "\n\n", "an empty batch has an empty answer"},
		{"Windows", strings.ReplaceAll(first+"\n"+second, "\n", "\r\n"), a + "\n" + b + "\n", "white space is no row"},
		{"nothing", "", "", "no batch"},
		{"again", first + "\n" + first + "\n", a + "\n" + a + "\n", "no batch knows of the one before"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.name)
		}
		if diff := cmp.Diff(tt.want, must(t, tt.in, "-method", "gigpo", "-batches")); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.name, tt.reason, diff)
		}
	}
	if diff := cmp.Diff(must(t, first+second, "-method", "gigpo"), must(t, "\n"+first+"\n \n"+second+"\n", "-method", "gigpo")); diff != "" {
		t.Errorf("without -batches empty lines are skipped (-want +got):\n%s", diff)
	}
	if got := must(t, "", "-method", "gigpo"); got != "" {
		t.Errorf("nothing makes %q", got)
	}
}

// A batch is answered before the next one is sent, and an interrupt ends the process between them.
func TestConversation(t *testing.T) {
	in, toProgram := io.Pipe()
	fromProgram, out := io.Pipe()
	defer toProgram.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stderr bytes.Buffer
	code := make(chan int)
	go func() {
		c := run(ctx, []string{"-method", "gigpo", "-batches"}, in, out, &stderr)
		out.Close()
		code <- c
	}()
	answers := bufio.NewReader(fromProgram)
	for range 3 {
		if _, err := io.WriteString(toProgram, file(t, "rows.jsonl")+"\n"); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`{"id":"a"`, `{"id":"b"`, "\n"} {
			if line, err := answers.ReadString('\n'); err != nil || !strings.HasPrefix(line, want) {
				t.Fatalf("got %q, %v, want %q", line, err, want)
			}
		}
	}
	if _, err := io.WriteString(toProgram, file(t, "rows.jsonl")); err != nil { // half a batch
		t.Fatal(err)
	}
	cancel()
	if rest, err := io.ReadAll(answers); len(rest) > 0 || err != nil {
		t.Errorf("after the interrupt came %q, %v", rest, err)
	}
	if c := <-code; c != 130 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit code %d, printed %q", c, stderr.String())
	}
}

func TestFiles(t *testing.T) {
	rows := file(t, "rows.jsonl")
	first, second, _ := strings.Cut(rows, "\n")
	dir := t.TempDir()
	for name, content := range map[string]string{"1": first, "2": second, "bad": "\n\n{\"mask\":[2]}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one, two, bad := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "bad")
	if diff := cmp.Diff(must(t, rows, "-method", "gigpo"), must(t, "not read", "-method", "gigpo", one, two)); diff != "" {
		t.Errorf("all files are one batch (-want +got):\n%s", diff)
	}
	for _, tt := range []struct{ file, want string }{
		{bad, bad + ":3: token: mask[0] is 2, want"},
		{filepath.Join(dir, "none"), "none"},
		{dir, dir + ":1: read " + dir},
	} {
		if code, stdout, stderr := try(t, "", "-method", "gigpo", one, tt.file); code != 1 || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("exit code %d, printed %q and %q, want %q", code, stdout, stderr, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	const good = `{"id":"x","mask":[1],"rewards":[1]}` + "\n"
	const turn = `{"turns":[{"end":"terminated"}]}` + "\n"
	method := func(name string, more ...string) []string {
		return append([]string{"-method", name, "-lenient"}, more...)
	}
	tests := []struct {
		name   string
		in     string
		args   []string
		code   int
		want   string // in what is printed to standard error
		reason string
	}{
		{"no method", good, nil, 2, "-method is missing", "nobody can know which one is meant"},
		{"unknown method", good, method("ppo"), 2, `no method "ppo", want one of sapo, turn-gae`, "the known ones are named"},
		{"unknown option", good, method("grpo", "-options", `{"Gama":1}`), 2, `unknown field "Gama"`, "a misspelt option must not be ignored"},
		{"bad option", good, method("gigpo", "-options", `{"Gamma":2}`), 2, "Gamma is 2", "options are checked before anything is read"},
		{"unknown format", good, method("grpo", "-in", "csv"), 2, `-in is "csv"`, "there are two"},
		{"unknown flag", good, method("grpo", "-nope"), 2, "-nope", "it is named"},
		{"dot without a graph", good, method("gigpo", "-dot", "x"), 2, "-dot needs the method milegpo", "only MileGPO has one"},
		{"no JSON", good + "\n{\"mask\":[1}\n", method("grpo"), 1, "stdin:3: ", "the line is named, empty ones counted"},
		{"NaN", good + `{"mask":[1],"rewards":[NaN]}`, method("grpo"), 1, "stdin:2: token: rewards[0] is NaN, want a finite number", "what json.dumps writes by default"},
		{"lengths", good + `{"mask":[1],"values":[1,2]}` + "\n" + good, method("grpo"), 1, "stdin:2: token: row 1: values is 2 long, want 1", "the fault of the row is found when all are there"},
		{"steps", strings.Repeat(`{"id":"x","step":1,"mask":[1]}`+"\n\n", 2), method("grpo"), 1, "stdin:3: token: row 1: step is 1", "the second is at fault"},
		{"not finite", `{"mask":[1],"rewards":[1]}` + "\n" + strings.Replace(good, "[1]}", "[1e308]}", 1) + strings.Replace(good, "[1]}", "[1e308]}", 1), method("gigpo"), 0, "", "large, but finite"},
		{"overflow", `{"id":"x","step":0,"mask":[1],"rewards":[1e308]}` + "\n" + `{"id":"x","step":1,"mask":[1],"rewards":[1e308]}` + "\n" + `{"id":"y","step":1,"mask":[1,1],"rewards":[1e308,1e308]}` + "\n",
			method("grpo"), 1, "stdin:1: rl: trajectory 0: the score", "the first line of the trajectory"},
		{"overflow later", good + `{"id":"y","step":0,"mask":[1]}` + "\n" + `{"id":"y","step":1,"mask":[1]}` + "\n" + `{"id":"z","mask":[1,1],"rewards":[1e308,1e308]}` + "\n",
			method("grpo"), 1, "stdin:4: rl: trajectory 2", "rows of one trajectory are counted once"},
		{"no final value", good + `{"mask":[1],"end":"truncated"}` + "\n", method("token-gae"), 1, "stdin:2: rl: trajectory 1", "the estimator needs it"},
		{"group of one", good, method("grpo", "-options", `{"Norm":{"Singleton":"error"}}`), 1, "stdin:1: rl: trajectory 0", "asked for"},
		{"batch of one", good, method("token-gae", "-options", `{"Norm":{"Singleton":"error"}}`), 1, "credit: ", "asked for"},
		{"trajectory", turn + "\n" + `{"turns":[{"reward":1}]}`, method("grpo"), 1, "stdin:3: rl: trajectory 1, turn 0: End", "the trajectory is the second"},
		{"field of a trajectory", turn + `{"turns":[{"rewrad":1,"end":"terminated"}]}`, method("grpo"), 1, `stdin:2: unknown field "rewrad"`, "nothing else in a trajectory"},
		{"mixed", turn + good, method("grpo"), 1, `stdin:2: unknown field "mask" at byte 11 (read as trajectories, see -in)`, "one format a run"},
		{"trajectories as rows", turn, method("grpo", "-in", "rows"), 1, "stdin:1: token: turns[0] is", "told so"},
		{"overflow of a trajectory", turn + `{"turns":[{"reward":1e308},{"reward":1e308,"end":"terminated","tokens":[{"id":1,"trainable":true}]}]}`, method("grpo"), 1, "stdin:2: rl: trajectory 1", "the estimator's fault has a line, too"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.name)
		}
		code, stdout, stderr := try(t, tt.in, tt.args...)
		if code != tt.code || !strings.Contains(stderr, tt.want) || code != 0 && stdout != "" {
			t.Errorf("%s: exit code %d, printed %q and %q, want %d and %q: %s", tt.name, code, stdout, stderr, tt.code, tt.want, tt.reason)
		}
	}
	// The batches before the one that fails are answered.
	code, stdout, stderr := try(t, good+"\n\n"+good+`{"mask":[1],"rewards":[NaN]}`+"\n\n"+good, "-method", "grpo", "-lenient", "-batches")
	if want := must(t, good, "-method", "grpo", "-lenient") + "\n\n"; code != 1 || stdout != want || !strings.Contains(stderr, "stdin:5 (line 2 of batch 3): token: rewards[0]") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
	code, _, stderr = try(t, "\n"+good, "-method", "token-gae", "-lenient", "-options", `{"Norm":{"Singleton":"error"}}`, "-batches")
	if code != 1 || !strings.Contains(stderr, "batch 2") {
		t.Errorf("exit code %d, printed %q", code, stderr)
	}
}

type faulty struct{}

func (faulty) Read([]byte) (int, error)  { return 0, errors.New("cable cut") }
func (faulty) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestBrokenStreams(t *testing.T) {
	rows := file(t, "rows.jsonl")
	tests := []struct {
		name   string
		stdin  io.Reader
		stdout io.Writer
		want   string
		reason string
	}{
		{"output", strings.NewReader(rows), faulty{}, "credit: disk full", "an answer that is not written is no success"},
		{"input", io.MultiReader(strings.NewReader(rows), faulty{}), io.Discard, "credit: stdin:3: cable cut", "the rest is missing"},
		{"half a line", io.MultiReader(strings.NewReader(rows+`{"mask":[1]`), faulty{}), io.Discard, "credit: stdin:3: cable cut", "the line is not at fault"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.name)
		}
		var stderr bytes.Buffer
		if code := run(t.Context(), []string{"-method", "grpo", "-lenient"}, tt.stdin, tt.stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%s: exit code %d, printed %q, want %q: %s", tt.name, code, stderr.String(), tt.want, tt.reason)
		}
	}
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"-list"}, nil, faulty{}, &stderr); code != 1 {
		t.Errorf("exit code %d, printed %q", code, stderr.String())
	}
}

func TestLongLine(t *testing.T) {
	const tokens = 20_000
	long := fmt.Sprintf(`{"mask":[1%s],"group":"g","rewards":[1%s]}`, strings.Repeat(", 0, 1", tokens/2), strings.Repeat(", 0", tokens))
	out := parse(t, must(t, long+"\n"+`{"mask":[1],"rewards":[0],"group":"g"}`, "-method", "dr-grpo"))
	if a := out[0].Advantages; len(a) != tokens+1 || a[0] != 0.5 || a[1] != 0 || a[tokens] != 0.5 {
		t.Errorf("%d advantages", len(a))
	}
}

// Nothing is written after an interrupt.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	f := filter{stdout: &out, batches: true}
	if err := f.answer(ctx); !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("error %v, wrote %q", err, out.String())
	}
	if code := run(ctx, []string{"-method", "grpo", "-lenient"}, strings.NewReader(everything), &out, io.Discard); code != 130 || out.Len() > 0 {
		t.Errorf("exit code %d, wrote %q", code, out.String())
	}
}

func TestDiagnostics(t *testing.T) {
	batch, err := token.FromRows(parse(t, everything))
	if err != nil {
		t.Fatal(err)
	}
	c, err := rl.SAPO(nil, batch, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := c.Diagnose(batch)
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := try(t, everything+"\n\n"+everything, "-method", "sapo", "-batches", "-diagnostics")
	if code != 0 || stdout == "" || strings.Count(stderr, "\n") != 2 {
		t.Fatalf("exit code %d, printed %q", code, stderr)
	}
	for line := range strings.Lines(stderr) {
		var got rl.Diagnostics
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// The graphs are those of the method with its options, of the last batch.
func TestDot(t *testing.T) {
	for name, o := range map[string]*rl.MileGPOOptions{"milegpo": {}, "milegpo-webshop": rl.MileGPOWebShop()} {
		var want bytes.Buffer
		batch, err := token.FromRows(parse(t, everything))
		if err != nil {
			t.Fatal(err)
		}
		o.TrapVisits = 1
		graphs, err := rl.MileGraphs(batch, o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range graphs {
			if err := graphs[i].WriteDOT(&want); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(t.TempDir(), "graph.dot")
		must(t, file(t, "e11.jsonl")+"\n"+everything+"\n\n", "-method", name, "-options", `{"TrapVisits":1}`, "-batches", "-dot", path)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), string(got)); diff != "" || strings.Count(want.String(), "digraph") != 2 {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if code, stdout, stderr := try(t, everything, "-method", name, "-dot", filepath.Join(path, "x")); code != 1 || stdout != "" || stderr == "" {
			t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
		}
	}
}

// Where no row has a column that the method reads, there is no credit, unless it is asked for.
func TestMissingColumns(t *testing.T) {
	const in = `{"mask":[1],"reward":[1],"group":"g","state":["s"]}` + "\n"
	code, stdout, stderr := try(t, in+"\n"+in, "-method", "gigpo", "-batches")
	want := "credit: batch 1: no row of the batch has rewards or turn_rewards, which gigpo reads; columns that are not read: reward, state; -lenient goes on without\n"
	if diff := cmp.Diff(want, stderr); diff != "" || code != 1 || stdout != "" {
		t.Errorf("exit code %d, printed %q (-want +got):\n%s", code, stdout, diff)
	}
	if code, _, stderr := try(t, in+in, "-method", "gigpo", "-lenient"); stderr != "" || code != 0 {
		t.Errorf("-lenient: exit code %d, printed %q", code, stderr)
	}
	if code, _, stderr := try(t, `{"mask":[1],"rewards":[0]}`, "-method", "reinforce++"); stderr != "" || code != 0 {
		t.Errorf("printed %q, but nothing is missing", stderr)
	}
	code, _, stderr = try(t, `{"mask":[1],"rewards":[0],"logprobs":[-1]}`, "-method", "reinforce++", "-options", `{"KLPenalty":0.1}`)
	if code != 1 || !strings.Contains(stderr, "no row of the batch has ref_logprobs, which reinforce++ reads") {
		t.Errorf("a divergence without a reference: exit code %d, printed %q", code, stderr)
	}
	for _, m := range method.All() {
		f := filter{method: m.Name}
		if err := f.choose(""); err != nil {
			t.Fatal(err)
		}
		for _, column := range f.reads {
			if given[column] == nil {
				t.Errorf("%s reads %q, which is no column", m.Name, column)
			}
		}
	}
}

// What is allowed and seldom meant is told, once.
func TestWarnings(t *testing.T) {
	row := func(more string) string { return `{"mask":[1],"rewards":[1]` + more + "}\n" }
	graph := `,"group":"g","states":["s"],"final_state":"f"`
	tests := []struct {
		in, method, want, reason string
	}{
		{row(`,"group":"g"`) + row(`,"group":"g"`), "grpo", "", "nothing is odd"},
		{row(`,"group":"a"`) + row(`,"group":"b"`), "grpo", "every group has one rollout: there is nothing to compare", "the group is that of the task"},
		{row(`,"group":"a"`) + row(`,"group":"a"`) + row(``), "grpo", "trajectory 2, from 0, has no group, others have one", "forgotten"},
		{row(`,"group":"a","id":"x"`) + row(`,"group":"a","id":"x"`) + row(`,"group":"a","id":"x"`), "grpo", `rows 0 and 1 have the id "x" and no step: each is a trajectory of its own`,
			"turns of one trajectory need a step"},
		{row(`,"group":"a","id":"x","step":0`) + row(`,"group":"a","id":"x","step":1`) + row(`,"group":"a"`), "grpo", "", "with steps"},
		{row(`,"values":[0],"final_value":1`), "token-gae", "final_value is given, but no end is truncated: it is not used", "the end is forgotten"},
		{row(`,"values":[0],"final_value":1,"end":"truncated"`), "token-gae", "", "used"},
		{row(graph) + row(graph), "milegpo", "every trajectory is a success: give success, or the option SuccessAbove", "dense rewards"},
		{row(graph+`,"success":false`) + row(graph+`,"success":false`), "graphgpo", "no trajectory is a success", "no goal, by the verdicts"},
		{row(graph) + row(graph+`,"success":false`), "milegpo", "", "one of each"},
		{row(`,"group":"a","id":"x","step":0`) + row(`,"id":"y","step":0`) + row(`,"id":"z","step":0`), "grpo", "trajectory 2, from 0, has no group, others have one", "forgotten, with steps"},
		{row(`,"group":"a"`) + row(`,"group":"a"`) + row(`,"drop":"crash"`), "grpo", "", "what is dropped needs no group"},
	}
	for _, tt := range tests {
		if tt.want != "" {
			tt.want = "credit: warning: " + tt.want + "\n"
		}
		code, stdout, stderr := try(t, tt.in+"\n"+tt.in, "-method", tt.method, "-batches")
		if code != 0 || stderr != tt.want || stdout == "" || tt.reason == "" {
			t.Errorf("%s, %s: exit code %d, printed %q, want %q (%s)", tt.method, tt.in, code, stderr, tt.want, tt.reason)
		}
	}
}

// A batch in which nothing counts is answered, and the bound of success is that of the options.
func TestNothingCounts(t *testing.T) {
	const in = `{"id":"b","drop":"crash"}` + "\n"
	code, stdout, stderr := try(t, in+"\n"+in, "-method", "gigpo", "-batches")
	if code != 0 || stderr != "" || strings.Count(stdout, `"no_vote":"crash"`) != 2 {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
	row := func(reward string) string {
		return `{"mask":[1],"rewards":[` + reward + `],"group":"g","states":["s"],"final_state":"f"}` + "\n"
	}
	for want, rewards := range map[string][2]string{"": {".9", ".1"}, "no trajectory": {".2", ".1"}, "every trajectory": {".8", ".9"}} {
		in := strings.ReplaceAll(row("0"+rewards[0])+row("0"+rewards[1]), "00", "0")
		code, _, stderr := try(t, in, "-method", "milegpo", "-options", `{"SuccessAbove":0.5}`)
		if code != 0 || (want == "") != (stderr == "") || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, printed %q, want %q", rewards, code, stderr, want)
		}
	}
}

func TestListOne(t *testing.T) {
	code, stdout, _ := try(t, "", "-list", "-method", "sapo")
	if code != 0 || strings.Count(stdout, "\n") != 1 || !strings.Contains(stdout, `"sapo"`) {
		t.Errorf("exit code %d, printed %q", code, stdout)
	}
	if code, _, stderr := try(t, "", "-list", "-method", "ppo"); code != 2 || !strings.Contains(stderr, `no method "ppo"`) {
		t.Errorf("exit code %d, printed %q", code, stderr)
	}
}

func TestHelp(t *testing.T) {
	if code, stdout, stderr := try(t, "", "-h"); code != 0 || stdout != "" || !strings.Contains(stderr, "usage: credit -method NAME") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
}
