package midtool

import (
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// qa proves that an answer is taken from the document that the system messages show.
func (v *validator) qa() {
	v.noCall()
	p := v.sample.Plan
	if p == nil || len(p.Answer) == 0 {
		v.unproven("/plan/answer", "nothing says what the answer must hold")
		return
	}
	var shown, asked scene
	var said []*Message
	for i := range v.sample.Messages {
		switch m := &v.sample.Messages[i]; m.Role {
		case RoleSystem:
			shown.say(m.Content)
			asked.say(m.Content)
		case RoleUser:
			asked.say(m.Content)
		case RoleAssistant:
			said = append(said, m)
		}
	}
	last := len(p.Answer) - 1
	at, from := 0, 0 // the message to be searched, and where in it
	for i, piece := range p.Answer {
		path := "/plan/answer/" + strconv.Itoa(i)
		if !v.spend(len(asked.text) + len(piece)) {
			v.unproven(path, "the sample is too large to be searched")
			return
		}
		if strings.TrimSpace(piece) == "" || !containsWhole(shown.text, piece) && !v.groundedCall(piece, &asked) {
			v.unproven(path, "%q is no text of the document, and no call with its words", piece)
		}
		if i == last && at < len(said)-1 {
			at, from = len(said)-1, 0
		}
		for ; at < len(said); at, from = at+1, 0 {
			if k := strings.Index(said[at].Content[from:], piece); k >= 0 {
				from += k + len(piece)
				break
			}
		}
		if at == len(said) {
			v.unproven(path, "%q is not said in its place", piece)
			return
		}
	}
}

// groundedCall says whether a piece of an answer is a call as JSON, with words and values of the scene alone.
func (v *validator) groundedCall(piece string, c *scene) bool {
	n, err := jsonval.ParseText(piece)
	if err != nil || n.Kind != jsonval.Object || len(n.Members) != 2 {
		return false
	}
	name, args := jsonval.StringOf(n.Get("name")), n.Get("arguments")
	if name == "" || args == nil || args.Kind != jsonval.Object || c.anyOrder(names.Words(name)) == "" {
		return false
	}
	var keys func(n *jsonval.Value) bool
	keys = func(n *jsonval.Value) bool {
		for i := range n.Members {
			m := &n.Members[i]
			if !v.spend(len(m.Key)) || c.anyOrder(names.Words(m.Key)) == "" || !keys(&m.Value) {
				return false
			}
		}
		return !slices.ContainsFunc(n.List, func(n jsonval.Value) bool { return !keys(&n) })
	}
	return keys(args) && !anyScalar(args, func(n *jsonval.Value) bool {
		return n.Kind != jsonval.Bool && (!v.spend(len(c.text)+len(n.Text)) || !c.says(n))
	})
}

// clarification proves that a call cannot be made yet, and that nothing but the user can help.
func (v *validator) clarification() {
	v.noCall()
	if n := v.count(RoleUser); n != 1 {
		v.unproven("/messages", "%d requests, want 1", n)
	}
	p := v.sample.Plan
	if p == nil || len(p.Calls) != 1 || len(p.Withheld) == 0 {
		v.unproven("/plan", "want one call and what it lacks")
		return
	}
	const path = "/plan/calls/0"
	at, offered := v.tools[p.Calls[0].Name]
	if !offered {
		v.unproven(path+"/name", "%q is not offered", p.Calls[0].Name)
		return
	}
	facts := v.offers[at].facts
	s, err := facts.parameters()
	args, bad := jsonval.Parse(p.Calls[0].Arguments)
	if err != nil || bad != nil || args.Kind != jsonval.Object {
		v.unproven(path+"/arguments", "want an object, and a schema that can be read")
		return
	}
	for _, name := range s.Required {
		if args.Get(name) == nil && !slices.Contains(p.Withheld, "/"+jsonval.PointerEscape(name)) {
			v.unproven(path+"/arguments", "%q is required, and neither known nor withheld", name)
		}
	}
	for _, pointer := range p.Withheld {
		name := strings.ReplaceAll(strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "~1", "/"), "~0", "~")
		fed := slices.ContainsFunc(v.offers, func(o offer) bool {
			return o.facts != facts && slices.Contains(v.checker.feeding(o.facts, facts), name)
		})
		switch {
		case !slices.Contains(s.Required, name):
			v.unproven(path+"/arguments"+pointer, "not required")
		case args.Get(name) != nil:
			v.unproven(path+"/arguments"+pointer, "withheld and known")
		case facts.settled(pointer):
			v.unproven(path+"/arguments"+pointer, "the schema settles it")
		case fed:
			v.unproven(path+"/arguments"+pointer, "another tool feeds it")
		}
	}
	if !v.spend(pathBytes(&args, 0)) {
		v.unproven(path+"/arguments", "too large to be searched for")
		return
	}
	for _, l := range schema.LeavesOf(s, &args, "", nil) {
		if !v.spend(len(v.scene.text) + len(l.Value.Text)) {
			v.unproven(path+"/arguments"+l.Path, "the sample is too large to be searched")
			return
		}
		if class, _ := v.scene.find(&l); len(args.Members) > 0 && class == EvidenceUngrounded {
			v.unproven(path+"/arguments"+l.Path, "%s is in no message", l.Value.Encode(jsonval.Compact))
		}
	}
}
