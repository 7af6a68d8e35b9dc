package midtool

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
)

// A Summary counts what a corpus consists of. The zero value is ready; Add takes the samples one by one. All exported
// fields are results: they are up to date after each Add, and do not depend on the order of the samples, but for
// Diversity Distinct of more words than are counted. Keys that are empty stand for what is not stated. The same samples
// in the same order give the same JSON and the same String. Which figures are given, and the limits of Warnings, are ours.
//
// Memory grows with the number of different tools, licenses and sources, and is bounded otherwise. A Summary is not safe
// for concurrent use; one that was read from JSON shows its figures and takes no more samples.
type Summary struct {
	Samples int `json:"samples"`
	Tokens  int `json:"tokens"` // as counted by the caller

	Families        map[Family]int  `json:"families"`
	Abilities       map[Ability]int `json:"abilities"` // in the first place
	SecondAbilities map[Ability]int `json:"second_abilities"`
	Sources         map[string]int  `json:"sources"`
	Generators      map[string]int  `json:"generators"`
	Licenses        map[string]int  `json:"licenses"` // samples that offer a tool under the license

	Evidence  map[EvidenceClass]int `json:"evidence"`  // arguments of trained calls
	Arguments map[string]int        `json:"arguments"` // values at the top level of arguments by type, as JSON Schema names it

	Calls          int         `json:"calls"`
	CallsPerSample map[int]int `json:"calls_per_sample"`
	Turns          map[int]int `json:"turns"`         // samples by user messages
	Chains         map[int]int `json:"chains"`        // requests by assistant's messages with calls that follow, where there are any
	Offered        map[int]int `json:"offered"`       // samples by tools offered, at any time
	ErrorResults   int         `json:"error_results"` // results that report an error
	Recoveries     int         `json:"recoveries"`    // of these, those after which the same tool gave a result without one

	ToolsOffered int     `json:"tools_offered"` // different tools by ID
	ToolsCalled  int     `json:"tools_called"`
	TopTool      string  `json:"top_tool"`       // the tool with most calls, by its original name
	TopToolShare float64 `json:"top_tool_share"` // of all calls, in [0, 1]

	User      Diversity `json:"user"`      // of what users say
	Assistant Diversity `json:"assistant"` // of what assistants say, calls left out

	offered map[string]bool
	called  map[string]int // calls by tool
	top     int            // calls of TopTool
	topID   string
}

// Diversity says how much the texts of one role repeat themselves.
type Diversity struct {
	Words    int        `json:"words"`    // letters and digits in a row, as far as counted: up to 100,000
	Distinct [4]float64 `json:"distinct"` // different n-grams of words by all of them, n = 1 to 4, in [0, 1]; 0 where there are none

	Templates     int     `json:"templates"`      // different templates, as far as counted: up to 65,536
	TopTemplate   string  `json:"top_template"`   // the one in most samples
	TemplateShare float64 `json:"template_share"` // samples that have it by all samples, in [0, 1]

	grams    [4]map[uint64]struct{}
	total    [4]int
	samples  map[string]int         // by template
	byFamily map[familyTemplate]int // samples
	seen     []string               // templates of the sample at hand
}

type familyTemplate struct {
	template string
	family   Family
}

// Bounds of what is counted. The share of different n-grams falls with the length of the text, so that it can be compared
// between corpora at equal lengths alone: it stops at a fixed one.
const (
	diversityWords = 100_000
	maxTemplates   = 1 << 16
)

// Add counts a sample that has so many tokens, as [Findings] says. The sample is not kept. Arguments and results that are
// no JSON have no type and report no error.
func (s *Summary) Add(sample *Sample, tokens int) {
	s.Samples++
	s.Tokens += tokens
	tally(&s.Families, sample.Family)
	tally(&s.Abilities, sample.Ability)
	if sample.SecondAbility != "" {
		tally(&s.SecondAbilities, sample.SecondAbility)
	}
	tally(&s.Sources, sample.Source)
	tally(&s.Generators, sample.Generator)
	for _, e := range sample.Evidence {
		tally(&s.Evidence, e.Class)
	}
	ids := s.offer(sample)
	s.conversation(sample, ids)
	s.User.end(sample.Family, s.Samples)
	s.Assistant.end(sample.Family, s.Samples)
}

func tally[K comparable](m *map[K]int, key K) {
	if *m == nil {
		*m = make(map[K]int)
	}
	(*m)[key]++
}

// offer counts the tools offered and returns them by the names under which they are called.
func (s *Summary) offer(sample *Sample) map[string]*Tool {
	if s.offered == nil {
		s.offered, s.called = make(map[string]bool), make(map[string]int)
	}
	byName := make(map[string]*Tool, len(sample.Tools))
	var licenses []string
	add := func(list []Tool) {
		for i := range list {
			t := &list[i]
			byName[t.Name] = t
			s.offered[toolIdentity(t)] = true
			if !slices.Contains(licenses, t.License) {
				licenses = append(licenses, t.License)
			}
		}
	}
	add(sample.Tools)
	for i := range sample.Messages {
		add(sample.Messages[i].Offers)
	}
	for _, l := range licenses {
		tally(&s.Licenses, l)
	}
	tally(&s.Offered, len(byName))
	s.ToolsOffered = len(s.offered)
	return byName
}

// toolIdentity is the ID, or the name of a tool that has none.
func toolIdentity(t *Tool) string { return cmp.Or(t.ID, t.Original, t.Name) }

func (s *Summary) conversation(sample *Sample, tools map[string]*Tool) {
	calls, users, chain := 0, 0, 0
	request := func() {
		if chain > 0 {
			tally(&s.Chains, chain)
		}
		chain = 0
	}
	var failed map[string]int // errors so far by the name of the tool
	for i := range sample.Messages {
		m := &sample.Messages[i]
		switch m.Role {
		case RoleUser:
			request()
			users++
			s.User.add(m)
		case RoleAssistant:
			s.Assistant.add(m)
			if len(m.Calls) > 0 {
				chain++
			}
			for j := range m.Calls {
				calls++
				s.call(&m.Calls[j], tools)
			}
		case RoleTool:
			if reportsError(m.Content) {
				s.ErrorResults++
				tally(&failed, m.Name)
			} else {
				s.Recoveries += failed[m.Name]
				delete(failed, m.Name)
			}
		}
	}
	request()
	s.Calls += calls
	tally(&s.CallsPerSample, calls)
	tally(&s.Turns, users)
	if s.Calls > 0 {
		s.TopToolShare = float64(s.top) / float64(s.Calls)
	}
}

// reportsError says whether a result reports an error. Most cannot, by the words that they lack.
func reportsError(content string) bool {
	if !strings.Contains(content, "rror") && !strings.Contains(content, "status") && !strings.Contains(content, `\u`) {
		return false
	}
	v, err := jsonval.Parse([]byte(content))
	return err == nil && jsonval.ReportsError(&v)
}

func (s *Summary) call(c *Call, tools map[string]*Tool) {
	key, name := c.Name, c.Name
	if t := tools[c.Name]; t != nil {
		key, name = toolIdentity(t), cmp.Or(t.Original, t.Name)
	}
	s.called[key]++
	s.ToolsCalled = len(s.called)
	if n := s.called[key]; n > s.top || n == s.top && key < s.topID {
		s.top, s.topID, s.TopTool = n, key, name
	}
	v, err := jsonval.Parse(c.Arguments)
	if err != nil {
		return
	}
	for i := range v.Members {
		tally(&s.Arguments, jsonType(&v.Members[i].Value))
	}
}

func jsonType(v *jsonval.Value) string {
	switch v.Kind {
	case jsonval.Number:
		if !strings.ContainsAny(v.Text, ".eE") {
			return "integer"
		}
	case jsonval.List:
		return "array"
	}
	return v.Kind.String()
}

// EvidenceShare is the share of a class among the arguments of trained calls, in [0, 1]; 0 if there are none.
func (s *Summary) EvidenceShare(c EvidenceClass) float64 {
	return float64(s.Evidence[c]) / float64(max(1, tallied(s.Evidence)))
}

// add counts the words and the template of a message.
func (d *Diversity) add(m *Message) {
	if m.Template != "" && !slices.Contains(d.seen, m.Template) {
		d.seen = append(d.seen, m.Template)
	}
	if d.Words == diversityWords || m.Content == "" {
		return
	}
	words := names.Words(m.Content)
	words = words[:min(len(words), diversityWords-d.Words)]
	d.Words += len(words)
	for n := range d.grams {
		if d.grams[n] == nil {
			d.grams[n] = make(map[uint64]struct{})
		}
		for i := 0; i+n < len(words); i++ {
			h := fnv.New64a() // two different ones in 100,000 are equal with a probability below 1e-9
			for _, w := range words[i : i+n+1] {
				h.Write([]byte(w))
				h.Write([]byte{' '})
			}
			d.grams[n][h.Sum64()] = struct{}{}
			d.total[n]++
		}
		if d.total[n] > 0 {
			d.Distinct[n] = float64(len(d.grams[n])) / float64(d.total[n])
		}
	}
}

// end counts the templates of a sample, once each.
func (d *Diversity) end(f Family, samples int) {
	for _, t := range d.seen {
		if d.samples == nil {
			d.samples, d.byFamily = make(map[string]int), make(map[familyTemplate]int)
		}
		if d.samples[t] == 0 {
			if len(d.samples) == maxTemplates {
				continue
			}
			t = strings.Clone(t) // it may be part of something large
		}
		d.samples[t]++
		d.byFamily[familyTemplate{t, f}]++
		if n, most := d.samples[t], d.samples[d.TopTemplate]; n > most || n == most && t < d.TopTemplate {
			d.TopTemplate = t
		}
	}
	d.seen = d.seen[:0]
	d.Templates = len(d.samples)
	d.TemplateShare = float64(d.samples[d.TopTemplate]) / float64(samples)
}

// Limits of Warnings.
const (
	fewSamples    = 100  // shares of fewer say little
	rareAbility   = 0.05 // of the samples
	commonTool    = 0.05 // of the calls
	commonPhrase  = 0.02 // of the samples
	familysPhrase = 0.10 // of the samples of a family
)

// Warnings says what a trainer would want to change: one of the four abilities in less than 5 % of the samples; a tool with
// more than 5 % of the calls, and more than three times an even share; a template in more than 2 % of the samples, or in more than 10 % of a family's if it has 100.
// Fewer than 100 samples give the one warning that there are few. The order is fixed; nil means none.
func (s *Summary) Warnings() []string {
	if s.Samples < fewSamples {
		return []string{fmt.Sprintf("%d samples are too few for shares to say much", s.Samples)}
	}
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, a := range []Ability{Affordance, Grounding, Composition, Recover} {
		if share := float64(s.Abilities[a]) / float64(s.Samples); share < rareAbility {
			warn("ability %s: %.1f %% of the samples, want %.0f %% or more", a, 100*share, 100*rareAbility)
		}
	}
	// Of a few tools each has a large share; three times an even one is too much.
	if limit := max(commonTool, 3/float64(max(s.ToolsCalled, 1))); s.TopToolShare > limit {
		warn("tool %q: %.1f %% of the calls, want %.0f %% or less", s.TopTool, 100*s.TopToolShare, 100*limit)
	}
	for _, d := range []struct {
		role Role
		of   *Diversity
	}{{RoleUser, &s.User}, {RoleAssistant, &s.Assistant}} {
		for _, t := range slices.Sorted(maps.Keys(d.of.samples)) {
			if share := float64(d.of.samples[t]) / float64(s.Samples); share > commonPhrase {
				warn("%s template %q: %.1f %% of the samples, want %.0f %% or less", d.role, t, 100*share, 100*commonPhrase)
			}
		}
		byFamily := slices.SortedFunc(maps.Keys(d.of.byFamily), func(a, b familyTemplate) int {
			return cmp.Or(cmp.Compare(a.family, b.family), cmp.Compare(a.template, b.template))
		})
		for _, k := range byFamily {
			all := s.Families[k.family]
			if share := float64(d.of.byFamily[k]) / float64(all); all >= fewSamples && share > familysPhrase {
				const text = "%s template %q: %.1f %% of family %s, want %.0f %% or less"
				warn(text, d.role, k.template, 100*share, orNone(string(k.family)), 100*familysPhrase)
			}
		}
	}
	return out
}

func orNone(key string) string { return cmp.Or(key, "(none)") }

// String gives the figures as a table, one row each, and the warnings below it.
func (s *Summary) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(what, which string, value any, share string) {
		fmt.Fprintf(t, "%s\t%s\t%v\t%s\n", what, which, value, share)
	}
	row("samples", "", s.Samples, "")
	row("tokens", "", s.Tokens, "")
	tableRows(row, "family", s.Families, s.Samples)
	tableRows(row, "ability", s.Abilities, s.Samples)
	tableRows(row, "second ability", s.SecondAbilities, s.Samples)
	tableRows(row, "source", s.Sources, s.Samples)
	tableRows(row, "generator", s.Generators, s.Samples)
	tableRows(row, "license", s.Licenses, s.Samples)
	tableRows(row, "evidence", s.Evidence, tallied(s.Evidence))
	tableRows(row, "argument type", s.Arguments, tallied(s.Arguments))
	row("calls", "", s.Calls, "")
	tableRows(row, "calls in a sample", s.CallsPerSample, s.Samples)
	tableRows(row, "requests in a sample", s.Turns, s.Samples)
	tableRows(row, "steps to a request", s.Chains, tallied(s.Chains))
	tableRows(row, "tools offered", s.Offered, s.Samples)
	row("results", "errors", s.ErrorResults, "")
	row("results", "errors recovered", s.Recoveries, "")
	row("tools", "offered", s.ToolsOffered, "")
	row("tools", "called", s.ToolsCalled, "")
	row("tools", "most called", tableCell(s.TopTool), percentText(s.TopToolShare))
	for _, d := range []struct {
		what string
		of   *Diversity
	}{{"user", &s.User}, {"assistant", &s.Assistant}} {
		row(d.what, "words counted", d.of.Words, "")
		for n, share := range d.of.Distinct {
			row(d.what, fmt.Sprintf("distinct %d-grams", n+1), "", percentText(share))
		}
		row(d.what, "templates", d.of.Templates, "")
		row(d.what, "largest template", tableCell(d.of.TopTemplate), percentText(d.of.TemplateShare))
	}
	t.Flush()
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	for _, w := range s.Warnings() {
		lines = append(lines[:len(lines)-1], "warning: "+w, "")
	}
	return strings.Join(lines, "\n")
}

// tableRows gives one row a key, in the order of the keys.
func tableRows[K cmp.Ordered](row func(what, which string, value any, share string), what string, m map[K]int, all int) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		row(what, orNone(tableCell(fmt.Sprint(k))), m[k], percentText(float64(m[k])/float64(all)))
	}
}

func tallied[K comparable](m map[K]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

func percentText(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// tableCell fits a text of others into a cell.
func tableCell(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "..."
	}
	return strings.Join(strings.Fields(s), " ")
}
