package components

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

// Paginate shows long results a page at a time: lists by PageSize items, or the text by MaxBytes bytes. Data.has_more, and a field of the
// same name in a Text that is a JSON object, says whether a page follows; a has_more of the base's own shows again on the last page.
// Results that fit one page stay as they are. A call of the tool Next, which is added to the list of tools, shows the page that follows
// without stepping the base, and is refused with class [envharness.ClassPrecondition] after the last page. The next action that is
// passed inwards begins at the first page of its result.
//
// Without Tools the first observation is paged too.
//
// Tag paginate, axis O; the params are the struct with its defaults filled in. It is sound if the limits on turns leave room to read on.
type Paginate struct {
	Tools    []string `json:"tools,omitempty"`     // patterns of names of tools whose results are paged; none means all tools
	PageSize int      `json:"page_size,omitempty"` // items of a list a page; zero means 10, without MaxBytes
	// List is the place of the list, a JSON pointer into Data and into a Text that is JSON. Empty means the first field of the object that is
	// a list longer than a page, in the order of the text, in Data by name; or the whole Text where that is a list.
	List string `json:"list,omitempty"`
	// MaxBytes is the most bytes of Text a page, in place of PageSize; at least 3. It is cut between characters; bytes that are no UTF-8, and
	// with 3 also characters of four bytes, become U+FFFD in a text that needs cutting.
	MaxBytes int    `json:"max_bytes,omitempty"`
	Next     string `json:"next"` // name of the added tool; empty means "next"
	Window          // of the turns whose results are paged
}

const hasMore = "has_more"

func (p Paginate) withDefaults() Paginate {
	if p.MaxBytes == 0 {
		p.PageSize = cmp.Or(p.PageSize, 10)
	}
	p.Next = cmp.Or(p.Next, "next")
	return p
}

// Spec implements [envharness.Component].
func (p Paginate) Spec() envharness.ComponentSpec {
	return spec("paginate", envharness.AxisObservation, p.withDefaults())
}

// Check reports sizes out of range or of both kinds, and a pattern, pointer or range of turns that is none.
func (p Paginate) Check() error {
	errs := []error{p.check(), checkPatterns(p.Tools)}
	if p.PageSize < 0 {
		errs = append(errs, fmt.Errorf("page_size %d must not be negative", p.PageSize))
	}
	if p.MaxBytes < 0 || p.MaxBytes == 1 || p.MaxBytes == 2 {
		errs = append(errs, fmt.Errorf("max_bytes %d must be at least 3", p.MaxBytes))
	}
	if p.MaxBytes != 0 && (p.PageSize != 0 || p.List != "") {
		errs = append(errs, errors.New("max_bytes goes with neither page_size nor list"))
	}
	if p.List != "" {
		_, err := parsePath(p.List)
		errs = append(errs, err)
		if strings.Contains(p.List+"/", "/*/") {
			errs = append(errs, fmt.Errorf("list %q must be one place", p.List))
		}
	}
	return errors.Join(errs...)
}

// pages is a Paginate in one episode.
type pages struct {
	Paginate
	path dataPath // of the list; nil to look for one
	tool string   // last one passed inwards
	on   bool     // the present result is paged
	page int
	all  envharness.Observation // the present result, unpaged
}

// String says in words what the component does with its parameters.
func (p Paginate) String() string {
	p = p.withDefaults()
	tools, follows := oneOf(p.Tools, "any tool"), "; "+word(p.Next)+" shows what follows"
	switch {
	case p.MaxBytes > 0:
		return p.in("results of " + tools + " are shown " + count(p.MaxBytes, "byte") + " at a time" + follows)
	case p.List != "":
		return p.in("the list " + word(p.List) + " in results of " + tools + " is shown " + count(p.PageSize, "item") + " at a time" + follows)
	}
	return p.in("lists in results of " + tools + " are shown " + count(p.PageSize, "item") + " at a time" + follows)
}

// Begin implements [envharness.Component].
func (p Paginate) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	ep := &pages{Paginate: p.withDefaults(), on: len(p.Tools) == 0 && p.open(0)}
	if p.List != "" {
		var err error
		if ep.path, err = parsePath(p.List); err != nil {
			return envharness.Hooks{}, err
		}
	}
	return envharness.Hooks{
		Tools: ep.tools,
		Action: func(_ context.Context, _ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
			if a.Name == ep.Next {
				return ep.next(), nil
			}
			ep.tool = a.Name
			return envharness.PassAction(), nil
		},
		Transition: func(_ context.Context, v envharness.View, _ envharness.Transition) (envharness.TransitionEdit, error) {
			ep.on, ep.page = match(ep.Tools, ep.tool) && ep.open(v.Turn), 0
			return envharness.TransitionEdit{}, nil
		},
		Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
			if !ep.on {
				return o, nil
			}
			ep.all = o
			o, _ = ep.show(ep.page)
			return o, nil
		},
	}, nil
}

func (p *pages) tools(_ context.Context, tools []envharness.Tool) ([]envharness.Tool, error) {
	if slices.ContainsFunc(tools, func(t envharness.Tool) bool { return t.Name == p.Next }) {
		return nil, fmt.Errorf("there is a tool %q already", p.Next)
	}
	return append(tools, envharness.Tool{
		Name:        p.Next,
		Description: "Shows the next page of the last result that has more.",
		Schema:      json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		ReadOnly:    true,
	}), nil
}

// next answers a call of the added tool.
func (p *pages) next() envharness.ActionEdit {
	if p.on {
		if o, ok := p.show(p.page + 1); ok {
			p.page++
			return envharness.AnswerAction(o.Text, nil)
		}
	}
	return refuse(envharness.ClassPrecondition, "there is no further page", false)
}

// show returns page k, counted from 0, of the present result, and whether there is one.
func (p *pages) show(k int) (envharness.Observation, bool) {
	if p.MaxBytes > 0 {
		return p.showText(k)
	}
	return p.showList(k)
}

func (p *pages) showText(k int) (envharness.Observation, bool) {
	o := p.all
	if len(o.Text) <= p.MaxBytes {
		return o, k == 0
	}
	rest := plainText(o.Text, p.MaxBytes)
	for range k {
		rest = rest[len(cutText(rest, p.MaxBytes)):]
	}
	o.Text = cutText(rest, p.MaxBytes)
	o.Data = withMore(o.Data, len(o.Text) < len(rest))
	return o, rest != ""
}

// plainText makes text that can be cut into pieces of valid UTF-8 of so many bytes, at least 3.
func plainText(text string, maxBytes int) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if maxBytes >= utf8.UTFMax {
		return text
	}
	return strings.Map(func(r rune) rune {
		if utf8.RuneLen(r) > maxBytes {
			return utf8.RuneError
		}
		return r
	}, text)
}

// cutText returns the longest beginning of valid UTF-8 of at most maxBytes bytes that ends between characters.
func cutText(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	for maxBytes > 0 && !utf8.RuneStart(text[maxBytes]) {
		maxBytes--
	}
	return text[:maxBytes]
}

// withMore returns data with has_more as it is to be shown.
func withMore(data map[string]any, more bool) map[string]any {
	if _, own := data[hasMore]; own && !more {
		return data
	}
	data = maps.Clone(data)
	if data == nil {
		data = make(map[string]any, 1)
	}
	data[hasMore] = more
	return data
}

// showList pages the list in Data and the one in Text, which are usually the same.
func (p *pages) showList(k int) (envharness.Observation, bool) {
	o := p.all
	there := k == 0
	if path := p.listIn(o.Data); path != nil {
		data, more, ok := p.cutList(o.Data, path, k)
		o.Data, there = withMore(data.(map[string]any), more), there || ok
	}
	above, doc, _ := readText(o.Text)
	switch path := p.listIn(doc); {
	case path != nil:
		cut, more, ok := p.cutList(doc, path, k)
		there = there || ok
		if object, is := cut.(*members); is {
			if _, own := object.values[hasMore]; more || !own {
				object.set(hasMore, more)
			}
		} else {
			o.Data = withMore(o.Data, more)
		}
		o.Text = above + string(writeDocument(nil, cut))
	case p.path == nil && p.long(doc):
		list := doc.([]any)
		page := p.slice(list, k)
		o.Text = above + string(writeDocument(nil, page))
		o.Data = withMore(o.Data, p.more(list, k))
		there = there || len(page) > 0
	}
	return o, there
}

// listIn returns the path of the list to page in a container, nil if there is none that is longer than a page.
func (p *pages) listIn(container any) dataPath {
	if p.path != nil {
		found := false
		p.path.edit(container, "", func(_ string, v any) (any, outcome) {
			found = p.long(v)
			return v, kept
		})
		if !found {
			return nil
		}
		return p.path
	}
	switch c := container.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(c)) {
			if p.long(c[key]) {
				return dataPath{key}
			}
		}
	case *members:
		for _, key := range c.keys {
			if p.long(c.values[key]) {
				return dataPath{key}
			}
		}
	}
	return nil
}

func (p *pages) long(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) > p.PageSize
}

// cutList puts page k in the place of the list, and returns whether there are more and whether it has an item.
func (p *pages) cutList(container any, path dataPath, k int) (cut any, more, ok bool) {
	cut, _ = path.edit(container, "", func(_ string, v any) (any, outcome) {
		list := v.([]any)
		page := p.slice(list, k)
		more, ok = p.more(list, k), len(page) > 0
		return page, replaced
	})
	return cut, more, ok
}

func (p *pages) slice(list []any, k int) []any {
	from := min(k*p.PageSize, len(list))
	return list[from:min(from+p.PageSize, len(list))]
}

func (p *pages) more(list []any, k int) bool { return (k+1)*p.PageSize < len(list) }

func paginateKind() Kind {
	return Kind{
		Tag: "paginate", Version: 1, Axis: envharness.AxisObservation, Direction: Harder,
		About: "shows long results a page at a time",
		Sound: "The limits on turns leave room to read on.",
		Schema: objectSchema("", toolsProperty, `"page_size":{"type":"integer","minimum":1}`, `"list":{"type":"string","pattern":"^/"}`,
			`"max_bytes":{"type":"integer","minimum":3}`, `"next":{"type":"string","minLength":1}`, windowProperty),
		Ladder: ladder(`{"page_size":20}`, `{"page_size":10}`, `{"page_size":5}`),
		New:    build[Paginate],
	}
}
