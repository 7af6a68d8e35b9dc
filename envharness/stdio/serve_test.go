package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/throughline-go/throughline/envharness"
)

// A fake is an environment made of functions; nil ones do nothing.
type fake struct {
	step   func(context.Context, envharness.Action) (envharness.Transition, error)
	close  func() error
	closed int
}

func (f *fake) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	return envharness.Observation{Text: "<start>"}, nil
}

func (f *fake) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if f.step == nil {
		return envharness.Transition{Observation: envharness.Observation{Text: a.String()}}, nil
	}
	return f.step(ctx, a)
}

func (f *fake) Close() error {
	f.closed++
	if f.close == nil {
		return nil
	}
	return f.close()
}

func failWith(err error) *fake {
	return &fake{step: func(context.Context, envharness.Action) (envharness.Transition, error) {
		return envharness.Transition{}, err
	}}
}

// served returns what is answered to the input.
func served(t *testing.T, env envharness.Environment, input string) string {
	t.Helper()
	var out strings.Builder
	if err := Serve(t.Context(), env, strings.NewReader(input), &out); err != nil {
		t.Error(err)
	}
	return out.String()
}

type hostile struct{}

func (hostile) Error() string { panic(secret) }

func TestServeAnswers(t *testing.T) {
	const step = `{"id":1,"op":"step","action":{"name":"x"}}`
	bad := func(id, message string) string {
		return `{"id":` + id + `,"error":{"code":"ErrBadMessage","message":"` + message + `"}}`
	}
	for _, tt := range []struct {
		name   string
		env    *fake
		line   string
		want   string
		reason string
	}{
		{"hello", nil, `{"id":1,"op":"hello","protocol":1}`, `{"id":1,"ok":{"protocol":1,"capabilities":{}}}`, "it describes nothing"},
		{"another protocol", nil, `{"id":1,"op":"hello","protocol":2}`, bad("1", "protocol 1 is the only one"), "there is one"},
		{"no protocol", nil, `{"id":1,"op":"hello"}`, bad("1", "hello lacks protocol"), "it must be named"},
		{"reset", nil, `{"id":0,"op":"reset"}`, `{"id":0,"ok":{"obs":{"text":"<start>"}}}`, "all is left out"},
		{"seed", nil, `{"id":18446744073709551615,"op":"reset","task":"a","seed":18446744073709551615,"options":null}`,
			`{"id":18446744073709551615,"ok":{"obs":{"text":"<start>"},"seed":18446744073709551615}}`, "64 bits, and null is no options"},
		{"options", nil, `{"id":1,"op":"reset","options":[]}`, bad("1", "options must be an object"), "a list is none"},
		{"step", nil, `{"id":1,"op":"step","action":{"name":"x","args":{"a": "<b>"}}}`,
			`{"id":1,"ok":{"obs":{"text":"x {\"a\": \"<b>\"}"},"reward":0,"terminated":false,"truncated":false}}`, "arguments arrive as they were sent"},
		{"text args", nil, `{"id":1,"op":"step","action":{"name":"x","args":"{\"a\""}}`,
			`{"id":1,"ok":{"obs":{"text":"x {\"a\""},"reward":0,"terminated":false,"truncated":false}}`, "a string is the text of arguments"},
		{"list args", nil, `{"id":1,"op":"step","action":{"name":"x","args":[1]}}`,
			bad("1", "args must be an object or a string"), "else it is refused"},
		{"null action", nil, `{"id":1,"op":"step","action":null}`, bad("1", "step lacks action"), "null is none"},
		{"unknown field in action", nil, `{"id":1,"op":"step","action":{"name":"x","reward":1}}`,
			bad("1", `json: unknown field \"reward\"`), "strict"},
		{"no such op", nil, `{"id":1,"op":"verify"}`, bad("1", "there is no such op"), "no verdict over the wire"},
		{"no op", nil, `{"id":1}`, bad("1", "op must be a string"), "what to do"},
		{"field of another op", nil, `{"id":1,"op":"step","action":{"name":"x"},"task":"a"}`,
			bad("1", "step has a field that it does not know"), "strict"},
		{"upper case", nil, `{"ID":1,"op":"close"}`, bad("null", "id must be an integer from 0 to 18446744073709551615"), "names are exact"},
		{"no id", nil, `{"op":"reset"}`, bad("null", "id must be an integer from 0 to 18446744073709551615"), "nothing to answer to"},
		{"id of text", nil, `{"id":"1","op":"reset"}`, bad("null", "id must be an integer from 0 to 18446744073709551615"), "numbers alone"},
		{"negative id", nil, `{"id":-1,"op":"reset"}`, bad("null", "id must be an integer from 0 to 18446744073709551615"), "no sign"},
		{"not declared", nil, `{"id":1,"op":"state"}`, bad("1", "this environment has no state"), "it is no Stater"},
		{"empty line", nil, "", bad("null", "unexpected end of JSON input"), "no object"},
		{"two values", nil, `{} {}`, bad("null", "invalid character '{' after top-level value"), "one a line"},
		{"list", nil, `[]`, bad("null", "json: cannot unmarshal array into Go value of type map[string]json.RawMessage"), "no object"},
		{"bytes", nil, "{\"id\":1,\"op\":\"\xff\"}", bad("null", "not UTF-8"), "text is UTF-8"},
		{"depth", nil, `{"id":1,"op":"reset","options":{"a":` + strings.Repeat("[", 1100) + strings.Repeat("]", 1100) + `}}`,
			bad("null", "nested deeper than 1024"), "bounded before it is decoded"},
		{"length", nil, `{"id":1,"op":"reset","task":"` + strings.Repeat("x", maxLine) + `"}`,
			bad("null", "a line of more than 4194304 bytes"), "bounded while it is read"},
		{"error", failWith(fmt.Errorf("no: %w", envharness.ErrEpisodeOver)), step,
			`{"id":1,"error":{"code":"ErrEpisodeOver","message":"no: envharness: episode is over"}}`, "by name"},
		{"other error", failWith(errors.New("disk full")), step, `{"id":1,"error":{"code":"ErrInfra","message":"disk full"}}`, "any other is ErrInfra"},
		{"long error", failWith(errors.New(strings.Repeat("x", 5000))), step,
			`{"id":1,"error":{"code":"ErrInfra","message":"` + strings.Repeat("x", 1024) + `"}}`, "cut"},
		{"panic", &fake{step: func(context.Context, envharness.Action) (envharness.Transition, error) { panic(secret) }}, step,
			`{"id":1,"error":{"code":"ErrInfra","message":"the environment panicked"}}`, "nothing is told of it"},
		{"panic in an error", failWith(hostile{}), step, `{"id":1,"error":{"code":"ErrInfra","message":"the environment panicked"}}`, "foreign, too"},
		{"no number", &fake{step: func(context.Context, envharness.Action) (envharness.Transition, error) {
			zero := 0.0
			return envharness.Transition{Reward: 1 / zero}, nil
		}}, step, `{"id":1,"error":{"code":"ErrInfra","message":"the answer cannot be sent: json: unsupported value: +Inf"}}`, "no JSON"},
		{"long answer", &fake{step: func(context.Context, envharness.Action) (envharness.Transition, error) {
			return envharness.Transition{Observation: envharness.Observation{Text: strings.Repeat("x", maxLine)}}, nil
		}}, step, `{"id":1,"error":{"code":"ErrInfra","message":"the answer cannot be sent: a line of more than 4194304 bytes"}}`, "bounded"},
		{"deep answer", &fake{step: func(context.Context, envharness.Action) (envharness.Transition, error) {
			var deep any
			for range 1100 {
				deep = []any{deep}
			}
			return envharness.Transition{Observation: envharness.Observation{Data: map[string]any{"a": deep}}}, nil
		}}, step, `{"id":1,"error":{"code":"ErrInfra","message":"the answer cannot be sent: nested deeper than 1024"}}`, "the client would kill the program"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			env := tt.env
			if env == nil {
				env = &fake{}
			}
			const after = `{"id":7,"op":"close"}`
			got := served(t, env, tt.line+"\n"+after)
			if want := tt.want + "\n" + `{"id":7,"ok":{}}` + "\n"; got != want {
				t.Errorf("got  %.300s\nwant %.300s\n%s", got, want, tt.reason)
			}
			if env.closed != 1 {
				t.Errorf("closed %d times", env.closed)
			}
		})
	}
}

// Lines of any length up to the limit are read, whatever the reader cuts them into, and after a longer one the next is read.
func TestLineLimitIsExact(t *testing.T) {
	line := func(n int) string {
		s := `{"id":1,"op":"reset","task":""}`
		return s[:len(s)-2] + strings.Repeat("x", n-len(s)) + s[len(s)-2:] + "\n"
	}
	for n, want := range map[int]string{
		maxLine - 1: "ok", maxLine: "ok", maxLine + 1: "error", 2*maxLine + 17: "error", 64 << 10: "ok", 64<<10 - 1: "ok",
	} {
		if testing.Short() && n != maxLine && n != maxLine+1 {
			continue
		}
		var out strings.Builder
		in := io.MultiReader(strings.NewReader(line(n)), strings.NewReader(line(40)), iotest.OneByteReader(strings.NewReader(line(50))))
		if err := Serve(t.Context(), &fake{}, in, &out); err != nil {
			t.Error(err)
		}
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(got) != 3 || !strings.Contains(got[0], `"`+want+`"`) || !strings.Contains(got[1], `"ok"`) || !strings.Contains(got[2], `"ok"`) {
			t.Errorf("%d bytes: %.200q, want %s", n, got, want)
		}
	}
}

// Every error of package envharness has a code, and comes back as what it was.
func TestErrorsCrossTheWire(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "../errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]error{}
	for _, c := range codes {
		named[c.name] = c.err
	}
	var names []string
	for name, o := range f.Scope.Objects {
		if o.Kind == ast.Var && ast.IsExported(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 || len(names) != len(codes) {
		t.Errorf("%d errors, %d codes", len(names), len(codes))
	}
	for _, name := range names {
		want := named[name]
		if want == nil {
			t.Errorf("%s has no code", name)
			continue
		}
		env := openPipe(t, failWith(fmt.Errorf("as it is: %w", want)))
		_, got := env.Step(t.Context(), envharness.Action{Name: "x"})
		if !errors.Is(got, want) {
			t.Errorf("%s came back as %v", name, got)
		}
		if e, ok := errors.AsType[*Error](got); !ok || e.Op != "step" || e.Message != "as it is: "+want.Error() {
			t.Errorf("%#v", got)
		}
		for _, other := range codes {
			if other.name != name && errors.Is(got, other.err) {
				t.Errorf("%s is also %s", name, other.name)
			}
		}
	}
}

// A description crosses the wire as it is, field by field.
func TestDescriptionCrossesTheWire(t *testing.T) {
	var d envharness.Description
	v := reflect.ValueOf(&d).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Interface().(type) {
		case string:
			f.SetString("a <b>")
		case []string, []envharness.ErrorClass:
			f.Set(reflect.MakeSlice(f.Type(), 2, 2))
			f.Index(1).SetString("x")
		case float64:
			f.SetFloat(0.25)
		case int:
			f.SetInt(8)
		case bool:
			f.SetBool(true)
		case []envharness.Tool:
			f.Set(reflect.ValueOf([]envharness.Tool{{Name: "t", Description: "d", Schema: []byte(`{"type":"object"}`), ReadOnly: true, Submits: true}}))
		default:
			t.Fatalf("field %s is of a new type", v.Type().Field(i).Name)
		}
	}
	line, err := encode(greet(abilities{}, d))
	if err != nil {
		t.Fatal(err)
	}
	var g greeting
	if err := strict(line, &g); err != nil {
		t.Fatal(err)
	}
	if got := g.description(); !reflect.DeepEqual(got, d) {
		t.Errorf("got %+v, want %+v", got, d)
	}
}

// An environment without abilities has none on the other side, and one with all has all.
func TestAbilitiesAreThoseDeclared(t *testing.T) {
	bare, full := openPipe(t, &fake{}), openPipe(t, &able{})
	for name, tt := range map[string]func(envharness.Environment) bool{
		"Describer":   has[envharness.Describer],
		"Observer":    has[envharness.Observer],
		"Stater":      has[envharness.Stater],
		"TaskLister":  has[envharness.TaskLister],
		"Rewinder":    has[envharness.Rewinder],
		"Snapshotter": has[envharness.Snapshotter],
		"Oracle":      has[envharness.Oracle],
		"ToolLister":  has[envharness.ToolLister],
		"TurnLimiter": has[envharness.TurnLimiter],
	} {
		if tt(bare) || !tt(full) {
			t.Errorf("%s: %v for the bare one, %v for the full one", name, tt(bare), tt(full))
		}
	}
}

// Able is an environment that can do everything. Its tools change with every step.
type able struct {
	fake
	turn, limit int
}

func (a *able) Describe() envharness.Description { return envharness.Description{Name: "able"} }
func (a *able) Observe(context.Context) (envharness.Observation, error) {
	return envharness.Observation{Text: "now", Data: map[string]any{}, Actions: []envharness.Action{}}, nil
}
func (a *able) State(context.Context) (envharness.State, error) {
	return envharness.State(`{"turn": ` + fmt.Sprint(a.turn) + `}`), nil
}
func (a *able) Tasks(_ context.Context, split string) ([]envharness.Task, error) {
	if split == "none" {
		return nil, nil
	}
	return []envharness.Task{{ID: split, Seed: new(uint64(3))}}, nil
}
func (a *able) RewindCounters(context.Context) error { a.limit = 9; return nil }
func (a *able) Snapshot(ctx context.Context) (envharness.State, error) {
	return a.State(ctx)
}
func (a *able) Restore(_ context.Context, s envharness.State) error {
	var v struct{ Turn *int }
	if err := json.Unmarshal(s, &v); err != nil || v.Turn == nil {
		return errors.New("not a snapshot of this environment")
	}
	a.turn = *v.Turn
	return nil
}
func (a *able) Plan(context.Context) ([]envharness.Action, error) {
	if a.turn > 1 {
		return nil, envharness.ErrNoPlan
	}
	return nil, nil
}
func (a *able) Tools() []envharness.Tool {
	if a.turn == 0 {
		return nil
	}
	return []envharness.Tool{{Name: fmt.Sprint("tool", a.turn/2)}}
}
func (a *able) TurnLimit() int { return a.limit }
func (a *able) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	a.turn, a.limit = 0, 5
	return a.fake.Reset(ctx, o)
}
func (a *able) Step(ctx context.Context, x envharness.Action) (envharness.Transition, error) {
	a.turn++
	return a.fake.Step(ctx, x)
}

func as[T any](t *testing.T, env envharness.Environment) T {
	t.Helper()
	v, ok := envharness.As[T](env)
	if !ok {
		t.Fatalf("no %T", v)
	}
	return v
}

func TestAbilitiesWork(t *testing.T) {
	ctx := t.Context()
	env := openPipe(t, &able{})
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	same := func(got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %#v, want %#v", got, want)
		}
	}
	tools, limit := as[envharness.ToolLister](t, env), as[envharness.TurnLimiter](t, env)
	if tools.Tools() != nil {
		t.Error("tools before the first reset")
	}
	_, err := env.Reset(ctx, envharness.ResetOptions{Options: []byte("null")})
	ok(err)
	same(len(tools.Tools()), 0)
	same(limit.TurnLimit(), 5)
	for i := range 3 {
		_, err = env.Step(ctx, envharness.Action{Name: "x"})
		ok(err)
		same(tools.Tools()[0].Name, fmt.Sprint("tool", (i+1)/2))
	}
	o, err := as[envharness.Observer](t, env).Observe(ctx)
	ok(err)
	same(o, envharness.Observation{Text: "now", Data: map[string]any{}, Actions: []envharness.Action{}})
	state, err := as[envharness.Stater](t, env).State(ctx)
	ok(err)
	same(string(state), `{"turn":3}`)
	tasks, err := as[envharness.TaskLister](t, env).Tasks(ctx, "")
	ok(err)
	same(tasks, []envharness.Task{{Seed: new(uint64(3))}})
	tasks, err = as[envharness.TaskLister](t, env).Tasks(ctx, "none")
	ok(err)
	same(len(tasks), 0)
	ok(as[envharness.Rewinder](t, env).RewindCounters(ctx))
	same(limit.TurnLimit(), 9)
	_, err = as[envharness.Oracle](t, env).Plan(ctx)
	same(errors.Is(err, envharness.ErrNoPlan), true)
	snapshots := as[envharness.Snapshotter](t, env)
	for _, damaged := range []string{
		"", "x", "[]", "{", `{"turn":null}`, `{"a":` + strings.Repeat("[", 1100) + strings.Repeat("]", 1100) + "}",
		`{"x":"` + strings.Repeat("x", maxLine) + `"}`,
	} {
		if snapshots.Restore(ctx, envharness.State(damaged)) == nil {
			t.Errorf("restored from %.20q", damaged)
		}
	}
	ok(snapshots.Restore(ctx, envharness.State(`{"turn":1}`)))
	same(tools.Tools()[0].Name, "tool0")
	snapshot, err := snapshots.Snapshot(ctx)
	ok(err)
	same(string(snapshot), `{"turn":1}`)
	plan, err := as[envharness.Oracle](t, env).Plan(ctx)
	ok(err)
	same(len(plan), 0)
	_, err = env.Reset(ctx, envharness.ResetOptions{Options: []byte("[]")})
	if err == nil {
		t.Error("options that are no object")
	}
	ok(env.Close())
	_, err = as[envharness.Stater](t, env).State(ctx)
	same(errors.Is(err, envharness.ErrClosed), true)
	same(errors.Is(snapshots.Restore(ctx, nil), envharness.ErrClosed), true)
}

// Whatever a policy acts, it reaches the environment: as it is if it is an object, as text that stays what it is if not.
func TestActionsReachTheEnvironment(t *testing.T) {
	env := openPipe(t, &fake{})
	for _, tt := range []struct{ name, args, want string }{
		{"x", "", "x"},
		{"x", `{}`, "x {}"},
		{"x", `{"a": [1,  2]}`, `x {"a":[1,2]}`},
		{"x", `{"a":"<&>"}`, `x {"a":"<&>"}`},
		{"x", `null`, "x null"},
		{"x", `"{}"`, `x "{}"`},
		{"x", `[1, 2]`, `x [1, 2]`},
		{"x", `{"a":1`, `x {"a":1`},
		{"x", `{} {}`, `x {} {}`},
		{"x", "{\"a\":\"\xff\"}", "x {\"a\":\"\uFFFD\"}"},
		{"x\n\xff", "\x00", "x\n\uFFFD \x00"},
		{strings.Repeat("n", maxName+1), "", strings.Repeat("n", maxName)},
		{"x", strings.Repeat("n", maxText+1), "x " + strings.Repeat("n", maxText) + "..."},
		{strings.Repeat("\x01", 5<<20), strings.Repeat("\x01", 5<<20),
			strings.Repeat("\x01", maxName) + " " + strings.Repeat("\x01", maxText) + "..."},
		{"x", `{"a":"` + strings.Repeat("\xff ", maxArgs/2-5) + `"}`, `x {"a":"` + strings.Repeat("\uFFFD ", maxArgs/2-5) + `"}`},
		{"x", `{"a":1}` + strings.Repeat(" ", maxArgs), `x {"a":1}` + strings.Repeat(" ", maxText-7) + "..."},
	} {
		if testing.Short() && len(tt.name)+len(tt.args) > maxArgs/2 {
			continue
		}
		got, err := env.Step(t.Context(), envharness.Action{Name: tt.name, Args: []byte(tt.args)})
		if err != nil || got.Observation.Text != tt.want {
			text := got.Observation.Text
			t.Errorf("%.30q %.30q: got %.60q of %d, want %.60q of %d; %v", tt.name, tt.args, text, len(text), tt.want, len(tt.want), err)
		}
	}
}

func TestServeRefusesNothing(t *testing.T) {
	for _, err := range []error{
		Serve(t.Context(), nil, strings.NewReader(""), io.Discard),
		Serve(t.Context(), &fake{}, nil, io.Discard),
		Serve(t.Context(), &fake{}, strings.NewReader(""), nil),
	} {
		if err == nil {
			t.Error("served")
		}
	}
}

func TestServeReportsBrokenStreams(t *testing.T) {
	broken := errors.New("broken")
	line := `{"id":1,"op":"reset"}` + "\n"
	env := &fake{close: func() error { return io.ErrNoProgress }}
	err := Serve(t.Context(), env, io.MultiReader(strings.NewReader(line), iotest.ErrReader(broken)), io.Discard)
	if !errors.Is(err, broken) || !errors.Is(err, io.ErrNoProgress) || env.closed != 1 {
		t.Error(err, env.closed)
	}
	_, w := io.Pipe()
	w.Close()
	if err := Serve(t.Context(), &fake{}, strings.NewReader(line+line), w); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// A conversation is a request to the server and what becomes of it.
type conversation struct {
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
}

func converse(ctx context.Context, env envharness.Environment) conversation {
	r, in := io.Pipe()
	out, w := io.Pipe()
	c := conversation{in, bufio.NewReader(out), make(chan error, 1)}
	go func() { c.done <- Serve(ctx, env, r, w); r.Close(); w.Close() }()
	return c
}

// The end of the input during a step gives it a second, then it is canceled, and after another second it is left behind.
func TestEndOfInputMidStep(t *testing.T) {
	for name, want := range map[string]error{"obeys": nil, "closes": nil, "hangs": errLeft} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, end, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
				env := &fake{step: func(ctx context.Context, _ envharness.Action) (envharness.Transition, error) {
					close(begun)
					switch name {
					case "obeys": // the context
						<-ctx.Done()
					case "closes":
						<-closed
					case "hangs":
						<-end
					}
					return envharness.Transition{}, ctx.Err()
				}}
				env.close = func() error { close(closed); return nil }
				c := converse(t.Context(), env)
				fmt.Fprintln(c.in, `{"id":1,"op":"step","action":{"name":"x"}}`)
				<-begun
				c.in.Close()
				go func() { _, _ = io.Copy(io.Discard, c.out) }()
				if err := <-c.done; !errors.Is(err, want) {
					t.Error(err)
				}
				close(end)
				synctest.Wait()
				if env.closed != 1 {
					t.Errorf("closed %d times", env.closed)
				}
			})
		})
	}
}

// All that was asked before the end of the input is answered.
func TestEndOfInputAfterRequests(t *testing.T) {
	var in bytes.Buffer
	for i := range 50 {
		fmt.Fprintf(&in, `{"id":%d,"op":"reset"}`+"\n", i)
	}
	if got := strings.Count(served(t, &fake{}, in.String()), `"ok"`); got != 50 {
		t.Errorf("%d answers", got)
	}
}

// A context that is done ends Serve, between calls at once, and lets the reader go when it returns.
func TestServeStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		env := &fake{}
		c := converse(ctx, env)
		fmt.Fprintln(c.in, `{"id":1,"op":"reset"}`)
		if line, err := c.out.ReadString('\n'); err != nil {
			t.Fatal(line, err)
		}
		cancel()
		if err := <-c.done; !errors.Is(err, context.Canceled) || env.closed != 1 {
			t.Error(err, env.closed)
		}
	})
}

// An environment that ends its goroutine leaves nobody waiting for an answer.
func TestServeNoticesGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := &fake{step: func(context.Context, envharness.Action) (envharness.Transition, error) {
			runtime.Goexit()
			return envharness.Transition{}, nil
		}}
		c := converse(t.Context(), env)
		fmt.Fprintln(c.in, `{"id":1,"op":"step","action":{"name":"x"}}`)
		if err := <-c.done; !errors.Is(err, errExit) || env.closed != 1 {
			t.Error(err, env.closed)
		}
	})
}

// Nobody takes the answer: the end of the input ends Serve all the same.
func TestAnswerThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := converse(t.Context(), &fake{})
		fmt.Fprintln(c.in, `{"id":1,"op":"reset"}`)
		c.in.Close()
		if err := <-c.done; !errors.Is(err, errLeft) {
			t.Error(err)
		}
	})
}
