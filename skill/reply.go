package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	defaultRetries = 1
	maxReply       = 1 << 20 // bytes
)

// ask calls a language model until use accepts a reply, at most retries+1 times. From the second call on the prompt ends with what was
// wrong with the reply before. use reports why it does not accept a reply; final ends the calls with that error as it is.
//
// refused holds what was wrong with replies, in order. After the last one the error wraps ErrReply and all of refused; the own error of
// the model and that of ctx end the calls at once.
func ask(ctx context.Context, model func(ctx context.Context, prompt string) (string, error), prompt string, retries *int,
	use func(reply string) (final bool, err error)) (refused []error, err error) {
	left := defaultRetries
	if retries != nil {
		left = *retries
	}
	if left < 0 {
		return nil, fmt.Errorf("skill: Retries is %d, want at least 0", left)
	}
	feedback := ""
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return refused, fmt.Errorf("skill: ask the model: %w", err)
		}
		reply, err := model(ctx, prompt+feedback)
		if err != nil {
			return refused, fmt.Errorf("skill: ask the model: %w", err)
		}
		final, err := use(reply)
		if err == nil || final {
			return refused, err
		}
		refused = append(refused, &replyError{n, err})
		if n > left {
			return refused, &refusal{refused}
		}
		why, err := promptJSON(shorten(bare(err), maxFeedback))
		if err != nil {
			return refused, err
		}
		feedback = "\nYour last reply could not be used. What was wrong with it: " + why + "\nReply again, in the format above.\n"
	}
}

// A replyError says what was wrong with one reply, counted from 1.
type replyError struct {
	n   int
	err error
}

func (e *replyError) Error() string { return fmt.Sprintf("skill: reply %d: %s", e.n, bare(e.err)) }

func (e *replyError) Unwrap() error { return e.err }

// A refusal is ErrReply with what was wrong with each reply.
type refusal struct{ refused []error }

func (e *refusal) Error() string {
	var why []string
	for _, err := range e.refused {
		why = append(why, bare(err))
	}
	return ErrReply.Error() + ": " + strings.Join(why, "; ")
}

func (e *refusal) Unwrap() []error { return append([]error{ErrReply}, e.refused...) }

// bare returns the text of an error, which can be one of several, without the prefix of the package.
func bare(err error) string {
	return strings.ReplaceAll(strings.TrimPrefix(err.Error(), "skill: "), "\nskill: ", "; ")
}

// An object is a JSON object with its keys in order.
type object struct {
	keys   []string
	values map[string]any
}

var fenced = regexp.MustCompile("(?s)^```[A-Za-z0-9]*[ \\t]*\r?\n(.*)\n[ \\t]*```$")

// decodeReply reads a reply that is one JSON value, with at most one code fence around it, into object, []any, string, json.Number,
// bool and nil. Two equal keys in an object are an error.
func decodeReply(reply string) (any, error) {
	switch {
	case len(reply) > maxReply:
		return nil, fmt.Errorf("has %d bytes, want at most %d", len(reply), maxReply)
	case !utf8.ValidString(reply):
		return nil, errors.New("is not valid UTF-8")
	}
	reply = strings.TrimSpace(reply)
	if m := fenced.FindStringSubmatch(reply); m != nil {
		reply = m[1]
	}
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(reply), &whole); err != nil {
		return nil, fmt.Errorf("is not one JSON value and nothing else: %w", err)
	}
	dec := json.NewDecoder(strings.NewReader(reply))
	dec.UseNumber()
	v, err := decodeValue(dec)
	if err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("has text after the JSON value")
	}
	return v, nil
}

func decodeValue(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := decodeValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	case json.Delim('{'):
		o := object{values: make(map[string]any)}
		for dec.More() {
			k, err := dec.Token()
			if err != nil {
				return nil, err
			}
			key, _ := k.(string)
			if _, ok := o.values[key]; ok {
				return nil, fmt.Errorf("key %.40q stands twice in one object", key)
			}
			if o.values[key], err = decodeValue(dec); err != nil {
				return nil, err
			}
			o.keys = append(o.keys, key)
		}
		_, err := dec.Token()
		return o, err
	}
	return t, nil
}

// jsonKind names the type of a decoded value.
func jsonKind(v any) string {
	switch v.(type) {
	case object:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a text"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	}
	return "null"
}

// text returns a required text of an object.
func (o object) text(key string) (string, error) {
	v, ok := o.values[key]
	if !ok {
		return "", fmt.Errorf("has no key %q", key)
	}
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("has %s under %q, want a text", jsonKind(v), key)
	}
	// The decoder writes U+FFFD for half of a surrogate pair.
	if strings.ContainsRune(s, utf8.RuneError) {
		return "", fmt.Errorf("has a broken character (U+FFFD) in %q", key)
	}
	return s, nil
}

// unknown returns an error that names the keys of an object other than those given; nil if there are none.
func (o object) unknown(known ...string) error {
	var keys []string
	n := 0
	for _, k := range o.keys {
		if !slices.Contains(known, k) {
			if n++; n <= 5 {
				keys = append(keys, fmt.Sprintf("%.40q", k))
			}
		}
	}
	switch {
	case n == 0:
		return nil
	case n > len(keys):
		keys = append(keys, fmt.Sprintf("%d more", n-len(keys)))
	}
	return fmt.Errorf("unknown keys passed over: %s", strings.Join(keys, ", "))
}
