package envtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// diff names the first part in which two results differ, or nothing. What is volatile or ignored is left out.
func (b *bench) diff(want, got envharness.Transition) string {
	a, z := document(want), document(got)
	if difference("", a, z, 0) == "" { // nearly always
		return ""
	}
	for _, p := range b.volatile() {
		a, z = remove(a, p), remove(z, p)
	}
	return difference("", a, z, b.c.Tolerance)
}

// volatile lists the JSON pointers into a transition that no comparison looks at.
func (b *bench) volatile() []string {
	var out []string
	for _, p := range b.desc.Volatile {
		if p != "/state" && !strings.HasPrefix(p, "/state/") {
			out = append(out, p)
		}
	}
	for _, key := range b.c.IgnoreInfo {
		out = append(out, "/info/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
	}
	return out
}

// volatileState lists the same for a state.
func (b *bench) volatileState() []string {
	var out []string
	for _, p := range b.desc.Volatile {
		if rest, ok := strings.CutPrefix(p, "/state"); ok && (rest == "" || rest[0] == '/') {
			out = append(out, rest)
		}
	}
	return out
}

// document returns a transition as JSON values, in the form in which it is written. What is not JSON stays what it is.
func document(t envharness.Transition) any {
	o := map[string]any{"text": t.Observation.Text}
	if t.Observation.Data != nil {
		o["data"] = t.Observation.Data
	}
	if t.Observation.Actions != nil {
		list := make([]any, len(t.Observation.Actions))
		for i, a := range t.Observation.Actions {
			list[i] = a.Name + " " + string(a.Args)
		}
		o["actions"] = list
	}
	doc := map[string]any{"observation": o, "reward": t.Reward, "terminated": t.Terminated, "truncated": t.Truncated, "reason": t.Reason}
	if t.Error != nil {
		doc["error"] = map[string]any{"class": string(t.Error.Class), "message": t.Error.Message, "retryable": t.Error.Retryable}
	}
	if t.Info != nil {
		doc["info"] = t.Info
	}
	return doc
}

// difference names the first place in which two values differ, or nothing. Numbers may differ by tolerance.
func difference(at string, want, got any, tolerance float64) string {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return objectDifference(at, w, g, tolerance)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return listDifference(at, w, g, tolerance)
		}
	case float64:
		if g, ok := got.(float64); ok && (w == g || math.Abs(w-g) <= tolerance || math.IsNaN(w) && math.IsNaN(g)) {
			return ""
		}
	case string:
		if g, ok := got.(string); ok && w == g {
			return ""
		}
	case bool:
		if g, ok := got.(bool); ok && w == g {
			return ""
		}
	default:
		if reflect.DeepEqual(want, got) {
			return ""
		}
	}
	return fmt.Sprintf("%s is %.100s, want %.100s", at, fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", want))
}

func objectDifference(at string, want, got map[string]any, tolerance float64) string {
	if len(want) == len(got) { // the usual case needs no order
		same := true
		for k, v := range want {
			g, ok := got[k]
			if same = ok && difference("", v, g, tolerance) == ""; !same {
				break
			}
		}
		if same {
			return ""
		}
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		g, ok := got[k]
		if !ok {
			return fmt.Sprintf("%s/%s is missing", at, k)
		}
		if d := difference(at+"/"+k, want[k], g, tolerance); d != "" {
			return d
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[k]; !ok {
			return fmt.Sprintf("%s/%s is new", at, k)
		}
	}
	return ""
}

func listDifference(at string, want, got []any, tolerance float64) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%s has %d items, want %d", at, len(got), len(want))
	}
	for i := range want {
		if d := difference(at+"/"+strconv.Itoa(i), want[i], got[i], tolerance); d != "" {
			return d
		}
	}
	return ""
}

// remove takes what a JSON pointer points to out of a document; what it returns shares the rest with it.
func remove(doc any, pointer string) any {
	if pointer == "" {
		return nil
	}
	token, rest, more := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	switch d := doc.(type) {
	case map[string]any:
		child, ok := d[token]
		if !ok {
			return doc
		}
		d = maps.Clone(d)
		if more {
			d[token] = remove(child, rest)
		} else {
			delete(d, token)
		}
		return d
	case []any:
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i >= len(d) {
			return doc
		}
		d = slices.Clone(d)
		d[i] = nil
		if more {
			d[i] = remove(doc.([]any)[i], rest)
		}
		return d
	}
	return doc
}

// copyTransition returns a copy that shares nothing with t but what is not JSON.
func copyTransition(t envharness.Transition) envharness.Transition {
	o := &t.Observation
	o.Data, _ = copyValue(o.Data).(map[string]any)
	o.Actions = slices.Clone(o.Actions)
	for i := range o.Actions {
		o.Actions[i].Args = bytes.Clone(o.Actions[i].Args)
	}
	t.Info, _ = copyValue(t.Info).(map[string]any)
	if t.Error != nil {
		t.Error = new(*t.Error)
	}
	return t
}

func copyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = copyValue(e)
		}
		return out
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = copyValue(e)
		}
		return out
	case json.RawMessage:
		return slices.Clone(v)
	}
	return v
}
