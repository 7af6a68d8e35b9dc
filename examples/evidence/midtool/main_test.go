package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/midtool"
)

func silent(string) {}

// Every claim holds, with the public data where it is there, and the JSON has the keys that others read.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("generates and checks some thousand samples")
	}
	data := os.Getenv("THROUGHLINE_DATA")
	e, err := run(t.Context(), data, quickly, silent)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range e.Failures {
		t.Error(f)
	}
	var out bytes.Buffer
	if err := e.write(&out, true); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	paths := "schemas.tools schemas.compiled schemas.generated schemas.validated schemas.dropped corpus.samples corpus.rejected " +
		"abilities.grounding families.single evidence.literal diversity.user.distinct diversity.assistant.template_share clean.read_back.samples " +
		"clean.read_back.rejected clean.written.samples clean.replayed.samples validation.hallucinated_string.planted " +
		"validation.hallucinated_string.caught validation.hallucinated_string.clean_rejected validation.copied_question.caught " +
		"speed.samples_per_second.1x speed.checks_per_second bfcl.gold_pass bfcl.golden_verdicts.total bfcl.golden_verdicts.agree quick"
	for path := range strings.FieldsSeq(paths) {
		var at any = got
		for key := range strings.SplitSeq(path, ".") {
			m, _ := at.(map[string]any)
			at = m[key]
		}
		if at == nil && (data != "" || !strings.HasPrefix(path, "schemas.") && !strings.HasPrefix(path, "bfcl.")) {
			t.Errorf("%s is missing", path)
		}
	}
	out.Reset()
	if err := e.write(&out, false); err != nil || strings.Contains(out.String(), "skipped") != (data == "") || strings.Contains(out.String(), "FAILED") {
		t.Errorf("%v, table:\n%s", err, out.String())
	}
}

func TestFailureIsNamed(t *testing.T) {
	e := new(evidence)
	e.claim(true, "nothing")
	if err := e.failure(); err != nil {
		t.Error(err)
	}
	e.judge("blank_call", faultResult{Rule: "blank_call", Planted: planted, Caught: 0.98, Rejected: 0.02})
	var out bytes.Buffer
	err := e.write(&out, false)
	if err != nil || len(e.Failures) != 2 || e.failure() == nil || strings.Count(out.String(), "FAILED") != 2 {
		t.Errorf("%v, %v, %q", err, e.failure(), e.Failures)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, "", quickly, silent); err == nil {
		t.Error("an interrupted run gave a result")
	}
}

// Data that is named and not there is an error: nothing is skipped by mistake.
func TestMissingData(t *testing.T) {
	if _, err := run(t.Context(), t.TempDir(), quickly, silent); err == nil {
		t.Error("a run without the data that it was told of gave a result")
	}
}

// Every hostile input is dealt with.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a line of 100 MB")
	}
	e := new(evidence)
	if err := e.hostile(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, f := range e.Failures {
		t.Error(f)
	}
	panics := hostileCase{"panics", "kept", func(context.Context) (string, error) { panic("oops") }}
	if r := panics.run(t.Context()); r != (hostileResult{"panic", "oops"}) {
		t.Errorf("%+v", r)
	}
}

// Each kind of fault has a place in one of the conversations below, which are sound without it, and is found there by its rule.
func TestFaults(t *testing.T) {
	sound := conversations()
	replay := midtool.ExecutorFunc(func(context.Context, string, []midtool.Tool) (midtool.Session, error) {
		return midtool.SessionFunc(func(_ context.Context, tool midtool.Tool, arguments json.RawMessage) (midtool.Result, error) {
			if tool.Name == "send_parcel" && !strings.Contains(string(arguments), "product") {
				return midtool.Result{Value: json.RawMessage(`{"error":{"type":"bad_argument","message":"product: required"}}`), IsError: true}, nil
			}
			return midtool.Result{Value: json.RawMessage(results[tool.Name])}, nil
		}), nil
	})
	plain, again := &midtool.Checker{Markers: markers()}, &midtool.Checker{Markers: markers(), Replay: replay}
	for i := range sound {
		for _, c := range []*midtool.Checker{plain, again} {
			found, err := c.Check(t.Context(), &sound[i])
			if err != nil || len(found.Violations) > 0 {
				t.Errorf("%s is not sound: %v, %v", sound[i].ID, found.Violations, err)
			}
		}
	}
	before := string(encode(sound))
	for _, f := range faults(sound) {
		t.Run(f.kind, func(t *testing.T) {
			c := plain
			if f.replay {
				c = again
			}
			places := 0
			for i := range sound {
				for n := range uint64(8) { // what is drawn differs
					s := clone(sound[i])
					if !f.plant(rand.New(rand.NewPCG(n, 0)), &s) {
						continue
					}
					places++
					found, err := c.Check(t.Context(), &s)
					if err != nil || !slices.ContainsFunc(found.Violations, func(v midtool.Violation) bool { return v.Rule == f.rule }) {
						t.Fatalf("in %s, draw %d, rule %s is silent: %v, %v", s.ID, n, f.rule, found.Violations, err)
					}
				}
			}
			if places == 0 {
				t.Error("there is no place for it")
			}
		})
	}
	if d := cmp.Diff(before, string(encode(sound))); d != "" {
		t.Errorf("a fault changed more than its copy (-want +got):\n%s", d)
	}
}

var results = map[string]string{
	"get_weather": `{"city":"Oslo","status":"ok","temperature":21.5}`,
	"find_user":   `{"id":"user_0042","status":"ok"}`,
	"send_parcel": `{"id":"parcel_77","status":"ok"}`,
}

// conversations has a sound sample of each family; together they have a place for every fault.
func conversations() []midtool.Sample {
	weather := midtool.Tool{Name: "get_weather", Description: "Returns the weather of the next days for a city.", Parameters: json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"units":{"type":"string","enum":["metric","imperial"]},` +
			`"labels":{"type":"array","items":{"type":"string"}}},"required":["city","days","units"],"additionalProperties":false}`),
		Returns: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`), ReadOnly: true}
	find := midtool.Tool{Name: "find_user", Description: "Finds somebody by name.", Parameters: json.RawMessage(
		`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)}
	send := midtool.Tool{Name: "send_parcel", Description: "Sends something to somebody.", Parameters: json.RawMessage(
		`{"type":"object","properties":{"user_id":{"type":"string"},"product":{"type":"string"}},"required":["user_id","product"]}`)}
	user := func(text string) midtool.Message { return midtool.Message{Role: midtool.RoleUser, Content: text} }
	says := func(text string) midtool.Message { return midtool.Message{Role: midtool.RoleAssistant, Content: text} }
	call := func(id, name, arguments string) midtool.Call {
		return midtool.Call{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
	}
	calls := func(c ...midtool.Call) []midtool.Message {
		turn := []midtool.Message{{Role: midtool.RoleAssistant, Calls: c}}
		for _, x := range c {
			turn = append(turn, midtool.Message{Role: midtool.RoleTool, CallID: x.ID, Name: x.Name, Content: results[x.Name]})
		}
		return turn
	}
	fails := func(kind, message string, untrained bool, c midtool.Call) []midtool.Message {
		turn := calls(c)
		turn[0].Untrained = untrained
		turn[1].Content = `{"error":{"type":"` + kind + `","message":"` + message + `"}}`
		return turn
	}
	sample := func(family midtool.Family, tools []midtool.Tool, plan midtool.Plan, messages ...[]midtool.Message) midtool.Sample {
		s := midtool.Sample{ID: string(family) + plan.Fault, Family: family, Tools: tools, Messages: slices.Concat(messages...), Plan: &plan}
		for _, m := range s.Messages {
			plan.Calls = append(plan.Calls, m.Calls...)
		}
		return s
	}
	one := func(m ...midtool.Message) []midtool.Message { return m }
	all := []midtool.Tool{weather, find, send}
	oslo := call("call_0001", "get_weather", `{"city":"Oslo","days":7,"units":"metric","labels":["alpha","beta"]}`)
	const request = "What will the weather be in Oslo over 7 days? Use metric units and file it under alpha and beta, please."
	offer := midtool.Message{Role: midtool.RoleSystem, Offers: []midtool.Tool{weather}, Content: midtool.OfferText([]midtool.Tool{weather})}
	parcel := call("call_0002", "send_parcel", `{"user_id":"user_0042","product":"copper kettle"}`)
	ada := call("call_0001", "find_user", `{"name":"Ada Lovelace"}`)
	return []midtool.Sample{
		sample(midtool.Single, all, midtool.Plan{}, one(user(request)), calls(oslo), one(says("Oslo gets 21.5 degrees."))),
		sample(midtool.Single, all, midtool.Plan{}, one(user("Send the brass lamp to user_0007, please.")),
			calls(call("call_0001", "send_parcel", `{"user_id":"user_0007","product":"brass lamp"}`)), one(says("It is parcel_77."))),
		sample(midtool.Parallel, all, midtool.Plan{},
			one(user("What will the weather be in Bergen over 3 days in metric units? Find Ada Lovelace as well.")),
			calls(call("call_0001", "get_weather", `{"city":"Bergen","days":3,"units":"metric"}`), call("call_0002", "find_user", `{"name":"Ada Lovelace"}`)),
			one(says("It is 21.5 degrees, and she is user_0042."))),
		sample(midtool.Sequential, all, midtool.Plan{}, one(user("Find Ada Lovelace, then send her a copper kettle.")), calls(ada), calls(parcel),
			one(says("It is parcel_77."))),
		sample(midtool.MultiTurn, all, midtool.Plan{}, one(user("Who is Ada Lovelace here?")), calls(ada), one(says("She is user_0042.")),
			one(user("Now send her a copper kettle, please.")), calls(parcel), one(says("It is parcel_77."))),
		sample(midtool.MissingInfo, []midtool.Tool{send}, midtool.Plan{Withheld: []string{"/product"}}, one(user("Send something to user_0042 for me.")),
			one(says("What should it be?")), one(user("A copper kettle, please.")), calls(parcel), one(says("It is parcel_77."))),
		sample(midtool.MissingFunction, []midtool.Tool{find}, midtool.Plan{Absent: &weather},
			one(user(request)), one(says("None of these tools does that.")), one(offer, user("There is more now, so try it again.")), calls(oslo), one(says("Oslo gets 21.5 degrees."))),
		sample(midtool.Irrelevance, []midtool.Tool{find}, midtool.Plan{Absent: &weather}, one(user(request)), one(says("None of these tools does that."))),
		sample(midtool.Recovery, all, midtool.Plan{Fault: "bad_argument"}, one(user("Send a copper kettle to user_0042.")),
			fails("bad_argument", "product: required", true, call("call_0001", "send_parcel", `{"user_id":"user_0042"}`)),
			calls(parcel), one(says("It is parcel_77."))),
		sample(midtool.Recovery, all, midtool.Plan{Fault: "permission"}, one(user("Send a copper kettle to user_0042.")),
			fails("permission", "sending is not allowed", false, parcel), one(says("That failed: sending is not allowed."))),
	}
}
