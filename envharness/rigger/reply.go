package rigger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// Bounds of a reply.
const (
	maxReplyBytes  = 1 << 20
	maxReplyDepth  = 100
	maxLabel       = 60 // characters
	maxDescription = 500
)

var fence = regexp.MustCompile("(?s)^```[A-Za-z0-9]*[ \t]*\r?\n(.*)\n[ \t]*```$")

// unfence returns the one JSON object that a reply is, without the code fence around it.
func unfence(reply string) ([]byte, error) {
	switch {
	case len(reply) > maxReplyBytes:
		return nil, fmt.Errorf("it has %d bytes, at most %d are allowed", len(reply), maxReplyBytes)
	case !utf8.ValidString(reply):
		return nil, errors.New("it is not UTF-8")
	}
	reply = strings.TrimSpace(reply)
	if m := fence.FindStringSubmatch(reply); m != nil {
		reply = strings.TrimSpace(m[1])
	}
	if !strings.HasPrefix(reply, "{") {
		return nil, errors.New("it does not begin with a JSON object")
	}
	if err := checkReply([]byte(reply)); err != nil {
		return nil, err
	}
	return []byte(reply), nil
}

// checkReply refuses what is not one JSON value, too deep, or has a field twice, which encoding/json lets pass.
func checkReply(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var fields []map[string]bool // of the objects around; nil for a list
	key := false                 // what comes next is the name of a field
	for first := true; first || len(fields) > 0; first = false {
		t, err := dec.Token()
		if err != nil {
			return fmt.Errorf("it is not JSON: %w", err)
		}
		inObject := len(fields) > 0 && fields[len(fields)-1] != nil
		switch name, is := t.(string); {
		case t == json.Delim('{') || t == json.Delim('['):
			if len(fields) >= maxReplyDepth {
				return fmt.Errorf("it is nested deeper than %d", maxReplyDepth)
			}
			var seen map[string]bool
			if t == json.Delim('{') {
				seen = make(map[string]bool)
			}
			fields, key = append(fields, seen), seen != nil
			continue
		case t == json.Delim('}') || t == json.Delim(']'):
			fields = fields[:len(fields)-1]
		case inObject && key && is:
			if fields[len(fields)-1][name] {
				return fmt.Errorf("the field %s is there twice", quote(name, 60))
			}
			fields[len(fields)-1][name], key = true, false
			continue
		}
		key = len(fields) > 0 && fields[len(fields)-1] != nil
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the JSON object")
	}
	return nil
}

// object reads an object that has exactly the given fields, in their exact case.
func object(data json.RawMessage, what string, fields ...string) (map[string]json.RawMessage, error) {
	var o map[string]json.RawMessage
	if json.Unmarshal(data, &o) != nil || o == nil {
		return nil, fmt.Errorf("%s is no object", what)
	}
	var errs []error
	for _, f := range fields {
		if _, ok := o[f]; !ok {
			errs = append(errs, fmt.Errorf("%s lacks the field %q", what, f))
		}
		delete(o, f)
	}
	unknown := make([]string, 0, len(o))
	for f := range o {
		unknown = append(unknown, f)
	}
	slices.Sort(unknown)
	for _, f := range unknown[:min(len(unknown), 5)] {
		errs = append(errs, fmt.Errorf("%s has the unknown field %s", what, quote(f, 60)))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	err := json.Unmarshal(data, &o)
	return o, err
}

// str reads a string of at most most characters.
func str(raw json.RawMessage, what string, most int) (string, error) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", fmt.Errorf("%s is no string", what)
	}
	if n := utf8.RuneCountInString(*s); n > most {
		return "", fmt.Errorf("%s has %d characters, at most %d are allowed", what, n, most)
	}
	return *s, nil
}

// decodeDesign reads a candidate for a brief. What it accepts the registry can build.
func decodeDesign(data []byte, b Brief) (Candidate, error) {
	r, d := b.Registry, b.Direction
	o, err := object(data, "the reply", "components", "direction", "target_flaw", "rationale")
	if err != nil {
		return Candidate{}, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(o["components"], &list); err != nil || list == nil {
		return Candidate{}, errors.New("components is no list")
	}
	if most := b.most(); len(list) > most {
		return Candidate{}, fmt.Errorf("there are %d components, at most %d are allowed", len(list), most)
	}
	c := Candidate{Direction: d}
	var errs []error
	uses := make(map[string]int)
	for i, raw := range list {
		e, err := decodeComponent(raw, fmt.Sprintf("component %d", i), r)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		uses[e.Tag]++
		if e.ID = e.Tag; uses[e.Tag] > 1 {
			e.ID = fmt.Sprintf("%s#%d", e.Tag, uses[e.Tag])
		}
		c.Stack = append(c.Stack, e)
	}
	if direction, err := str(o["direction"], "direction", maxLabel); err != nil {
		errs = append(errs, err)
	} else if direction != d.String() {
		errs = append(errs, fmt.Errorf("direction is %s, it must be %q", quote(direction, 60), d))
	}
	c.Flaw, err = decodeFlaw(o["target_flaw"])
	errs = append(errs, err)
	c.Rationale, err = str(o["rationale"], "rationale", mostRationale)
	if errs = append(errs, err); len(c.Rationale) > mostRationale {
		errs = append(errs, fmt.Errorf("rationale has %d bytes, at most %d are allowed", len(c.Rationale), mostRationale))
	}
	if err := errors.Join(errs...); err != nil {
		return Candidate{}, err
	}
	if _, err := r.Stack(c.Stack...); err != nil {
		return Candidate{}, err
	}
	for i := range c.Stack { // only now: the canonical form would hide a number that has to be rounded
		if c.Stack[i].Params, err = envharness.CanonicalJSON(c.Stack[i].Params); err != nil {
			return Candidate{}, err
		}
	}
	return c, nil
}

func decodeComponent(raw json.RawMessage, what string, r *components.Registry) (components.Entry, error) {
	o, err := object(raw, what, "tag", "params")
	if err != nil {
		return components.Entry{}, err
	}
	tag, err := str(o["tag"], "the tag of "+what, mostRationale)
	if err != nil {
		return components.Entry{}, err
	}
	k, known := r.Kind(tag)
	if !known || k.Axis == envharness.AxisLink {
		return components.Entry{}, fmt.Errorf("%s has the tag %s, which is none of the catalogue", what, quote(tag, 60))
	}
	if p := bytes.TrimSpace(o["params"]); len(p) == 0 || p[0] != '{' {
		return components.Entry{}, fmt.Errorf("the params of %s are no object", what)
	}
	return components.Entry{Tag: tag, Version: k.Version, Params: o["params"]}, nil
}

// noFlaw is how a model says that a candidate is aimed at none.
const noFlaw = "F00"

// flawNames are the flaws as a model names them.
func flawNames() []string {
	names := []string{noFlaw}
	for _, id := range diagnosis.IDs() {
		names = append(names, string(id))
	}
	return names
}

func decodeFlaw(raw json.RawMessage) (diagnosis.ID, error) {
	name, err := str(raw, "target_flaw", maxLabel)
	switch {
	case err != nil:
		return "", err
	case !slices.Contains(flawNames(), name):
		return "", fmt.Errorf("target_flaw is %s, it must be F00 to F20", quote(name, 60))
	case name == noFlaw:
		return "", nil
	}
	return diagnosis.ID(name), nil
}

// decodeDecision reads a decision; [Reject] comes with every error.
func decodeDecision(data []byte) (Decision, error) {
	o, err := object(data, "the reply", "decision", "primary_axis", "label", "description")
	if err != nil {
		return Reject, err
	}
	decision, err := str(o["decision"], "decision", maxLabel)
	d := Decision(decision)
	if err == nil && d != Accept && d != Refine && d != Reject {
		err = fmt.Errorf("decision is %s, it must be accept, refine or reject", quote(decision, 60))
	}
	axis, errAxis := str(o["primary_axis"], "primary_axis", maxLabel)
	if errAxis == nil && !slices.Contains(decisionAxes, axis) {
		errAxis = fmt.Errorf("primary_axis is %s, it must be one of %s", quote(axis, 60), strings.Join(decisionAxes, ", "))
	}
	_, errLabel := str(o["label"], "label", maxLabel)
	_, errDescription := str(o["description"], "description", maxDescription)
	if err := errors.Join(err, errAxis, errLabel, errDescription); err != nil {
		return Reject, err
	}
	return d, nil
}

var decisionAxes = []string{"S0", "A", "T", "O", "B", "none"}
