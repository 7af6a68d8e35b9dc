package midtool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// failedTwice is a sample of two requests: the first takes two steps, the second call of which fails and is tried again.
func failedTwice() Sample {
	return Sample{
		Family: Recovery, Ability: Recover, SecondAbility: Grounding, Source: "native", Generator: "template",
		Tools: []Tool{{ID: "t_1", Name: "a_b", Original: "a.b", License: "MIT"}, {ID: "t_2", Name: "c", License: "MIT"}},
		Messages: []Message{
			{Role: RoleSystem, Content: "Be brief."},
			{Role: RoleUser, Content: "Do it, do it!", Template: "Do {it}"},
			{Role: RoleAssistant, Calls: []Call{{ID: "1", Name: "a_b", Arguments: []byte(`{"a":1,"b":1.0,"c":"x","d":[1],"e":{"f":1},"g":null,"h":true}`)}}},
			{Role: RoleTool, Name: "a_b", Content: `{"error": "timeout"}`},
			{Role: RoleAssistant, Calls: []Call{{ID: "2", Name: "a_b", Arguments: []byte(`{}`)}, {ID: "3", Name: "c", Arguments: []byte(`no JSON`)}}},
			{Role: RoleTool, Name: "a_b", Content: `{"error": null}`},
			{Role: RoleTool, Name: "c", Content: `{"status": 500}`},
			{Role: RoleAssistant, Content: "Done.", Template: "Done."},
			{Role: RoleUser, Content: "Again, please do it.", Template: "Do {it}"},
			{Role: RoleAssistant, Content: "No."},
			{Role: RoleSystem, Content: "x", Offers: []Tool{{ID: "t_3", Name: "late"}}},
		},
		Evidence: []Evidence{{Class: EvidenceLiteral}, {Class: EvidenceLiteral}, {Class: EvidenceEnumDefault}},
	}
}

func TestSummary(t *testing.T) {
	var got Summary
	s := failedTwice()
	got.Add(&s, 70)
	got.Add(&Sample{Family: NoCall, Ability: Affordance}, 30)
	want := Summary{
		Samples: 2, Tokens: 100,
		Families: map[Family]int{Recovery: 1, NoCall: 1}, Abilities: map[Ability]int{Recover: 1, Affordance: 1}, SecondAbilities: map[Ability]int{Grounding: 1},
		Sources: map[string]int{"native": 1, "": 1}, Generators: map[string]int{"template": 1, "": 1}, Licenses: map[string]int{"MIT": 1, "": 1},
		Evidence:  map[EvidenceClass]int{EvidenceLiteral: 2, EvidenceEnumDefault: 1},
		Arguments: map[string]int{"integer": 1, "number": 1, "string": 1, "array": 1, "object": 1, "null": 1, "boolean": 1},
		Calls:     3, CallsPerSample: map[int]int{3: 1, 0: 1}, Turns: map[int]int{2: 1, 0: 1}, Chains: map[int]int{2: 1}, Offered: map[int]int{3: 1, 0: 1},
		ErrorResults: 2, Recoveries: 1, // an error that is null is none, and c did not recover
		ToolsOffered: 3, ToolsCalled: 2, TopTool: "a.b", TopToolShare: 2. / 3,
		// do it do it | again please do it: 4 of 8 words, (do it, it do, again please, please do) of 3 + 3 pairs, ...
		User:      Diversity{Words: 8, Distinct: [4]float64{4. / 8, 4. / 6, 4. / 4, 2. / 2}, Templates: 1, TopTemplate: "Do {it}", TemplateShare: 0.5},
		Assistant: Diversity{Words: 2, Distinct: [4]float64{1, 0, 0, 0}, Templates: 1, TopTemplate: "Done.", TemplateShare: 0.5},
	}
	o := cmp.Options{cmpopts.IgnoreUnexported(Summary{}, Diversity{}), cmpopts.EquateApprox(1e-12, 1e-12)}
	if diff := cmp.Diff(want, got, o); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if share := got.EvidenceShare(EvidenceLiteral); share != 2./3 {
		t.Errorf("share %v", share)
	}
	var twice Summary
	s.Messages = append(s.Messages, Message{Role: RoleTool, Name: "a_b", Content: `1`})
	if twice.Add(&s, 0); twice.Recoveries != 1 {
		t.Errorf("%d recoveries from one error of the tool", twice.Recoveries)
	}
	var read Summary
	b, err := json.Marshal(&got)
	if err == nil {
		err = json.Unmarshal(b, &read)
	}
	if diff := cmp.Diff(got, read, o); diff != "" || err != nil {
		t.Errorf("%v (-written +read):\n%s", err, diff)
	}
	var zero Summary
	if zero.EvidenceShare(EvidenceLiteral) != 0 || !strings.HasPrefix(zero.String(), "samples") {
		t.Error("the zero value does not work")
	}
}

// The figures of texts equal those counted from all texts at once, in any order of the samples.
func TestSummaryDiversity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom(strings.Fields("red blue lamp for me ö"))
		var samples []Sample
		grams := make([]map[string]bool, 4)
		var all [4]int
		templates := make(map[string]int)
		for range rapid.IntRange(1, 12).Draw(t, "samples") {
			s := Sample{Family: Single}
			has := make(map[string]bool)
			for range rapid.IntRange(0, 3).Draw(t, "messages") {
				words := rapid.SliceOfN(word, 0, 6).Draw(t, "words")
				m := Message{Role: RoleUser, Content: strings.Join(words, rapid.SampledFrom([]string{" ", ", ", "_"}).Draw(t, "gap")),
					Template: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "template")}
				s.Messages = append(s.Messages, m)
				has[m.Template] = true
				for n := range grams {
					if grams[n] == nil {
						grams[n] = make(map[string]bool)
					}
					for i := range max(0, len(words)-n) {
						grams[n][strings.Join(words[i:i+n+1], " ")] = true
						all[n]++
					}
				}
			}
			for template := range has {
				templates[template]++
			}
			samples = append(samples, s)
		}
		delete(templates, "")
		var want Diversity
		want.Words, want.Templates = all[0], len(templates)
		for n := range grams {
			want.Distinct[n] = float64(len(grams[n])) / float64(max(1, all[n]))
		}
		for _, template := range []string{"a", "b"} {
			if n := templates[template]; n > templates[want.TopTemplate] {
				want.TopTemplate, want.TemplateShare = template, float64(n)/float64(len(samples))
			}
		}
		for range 2 {
			var got Summary
			for i := range samples {
				got.Add(&samples[i], 0)
			}
			if diff := cmp.Diff(want, got.User, cmpopts.IgnoreUnexported(Diversity{}), cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			samples = rapid.Permutation(samples).Draw(t, "order")
		}
	})
}

// Counting stops where it is documented to, in the middle of a text too, and the memory with it.
func TestSummaryBounds(t *testing.T) {
	var s Summary
	for i := range 11_000 {
		text := fmt.Sprintf("w%d one two three four five six seven eight %d w", i, i)
		s.Add(&Sample{Messages: []Message{{Role: RoleUser, Content: text}}}, 0)
	}
	// 9,090 texts of 11 words and 10 words of the next one
	if want := [4]int{100_000, 9_090*10 + 9, 9_090*9 + 8, 9_090*8 + 7}; s.User.Words != 100_000 || s.User.total != want {
		t.Errorf("%d words, %v n-grams, want %v", s.User.Words, s.User.total, want)
	}
	s = Summary{}
	for i := range maxTemplates + 10 {
		s.Add(&Sample{Messages: []Message{{Role: RoleAssistant, Content: "x", Template: fmt.Sprint(i)}}}, 0)
	}
	s.Add(&Sample{Messages: []Message{{Role: RoleAssistant, Content: "x", Template: "7"}}}, 0)
	if s.Assistant.Templates != maxTemplates || len(s.Assistant.samples) != maxTemplates || s.Assistant.TopTemplate != "7" {
		t.Errorf("%d templates, %q most often", s.Assistant.Templates, s.Assistant.TopTemplate)
	}
}

// Each warning appears from its limit on, and not at it.
func TestSummaryWarnings(t *testing.T) {
	abilities := []Ability{Affordance, Grounding, Composition, Recover}
	fill := func(n int, f func(i int, s *Sample)) *Summary {
		var sum Summary
		for i := range n {
			name := fmt.Sprint("tool", i)
			s := Sample{Family: Single, Ability: abilities[i%4], Messages: []Message{
				{Role: RoleUser, Content: "x", Template: fmt.Sprint("u", i)},
				{Role: RoleAssistant, Calls: []Call{{Name: name, Arguments: []byte(`{}`)}}}, {Role: RoleAssistant, Content: "y", Template: fmt.Sprint("a", i)}}}
			f(i, &s)
			sum.Add(&s, 0)
		}
		return &sum
	}
	rename := func(below int) func(i int, s *Sample) {
		return func(i int, s *Sample) {
			if i < below {
				s.Messages[1].Calls[0].Name = "same"
			}
		}
	}
	phrase := func(below, at int, f Family) func(i int, s *Sample) {
		return func(i int, s *Sample) {
			if i < below {
				s.Messages[at].Template = "same"
			}
			if i < 100 {
				s.Family = f
			}
		}
	}
	able := func(below int) func(i int, s *Sample) {
		return func(i int, s *Sample) {
			if s.Ability = abilities[i%3]; i < below {
				s.Ability = Recover
			}
		}
	}
	for _, tt := range []struct {
		name string
		sum  *Summary
		want []string
	}{
		{"even", fill(1000, func(int, *Sample) {}), nil},
		{"few", fill(99, func(int, *Sample) {}), []string{"99 samples are too few for shares to say much"}},
		{"none", new(Summary), []string{"0 samples are too few for shares to say much"}},
		{"ability at", fill(1000, able(50)), nil},
		{"ability", fill(1000, able(49)), []string{"ability recovery: 4.9 % of the samples, want 5 % or more"}},
		{"tool at", fill(1000, rename(50)), nil},
		{"tool", fill(1000, rename(51)), []string{`tool "same": 5.1 % of the calls, want 5 % or less`}},
		{"user at", fill(1000, phrase(20, 0, Single)), nil},
		{"user", fill(1000, phrase(21, 0, Single)), []string{`user template "same": 2.1 % of the samples, want 2 % or less`}},
		{"assistant", fill(1000, phrase(21, 2, Single)), []string{`assistant template "same": 2.1 % of the samples, want 2 % or less`}},
		{"family at", fill(1000, phrase(10, 0, NoCall)), nil},
		{"family", fill(1000, phrase(11, 0, "")), []string{`user template "same": 11.0 % of family (none), want 10 % or less`}},
	} {
		if diff := cmp.Diff(tt.want, tt.sum.Warnings()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		for _, w := range tt.want {
			if !strings.HasSuffix(tt.sum.String(), "\nwarning: "+w+"\n") {
				t.Errorf("%s: the table ends without the warning:\n%s", tt.name, tt.sum)
			}
		}
	}
}

func BenchmarkSummary(b *testing.B) {
	s := failedTwice()
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var sum Summary
				for range n {
					sum.Add(&s, 1)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/sample")
		})
	}
}

// With few tools each has a large share of the calls; that alone is nothing to warn of.
func TestSummaryFewTools(t *testing.T) {
	var s Summary
	for i := range 200 {
		x := clean()
		for j := range x.Tools {
			x.Tools[j].ID += strings.Repeat("x", i%4) // four tools, called equally often
		}
		s.Add(&x, 10)
	}
	warned := slices.ContainsFunc(s.Warnings(), func(w string) bool { return strings.HasPrefix(w, "tool ") })
	if s.ToolsCalled != 4 || s.TopToolShare != 0.25 || warned {
		t.Errorf("%d tools, share %v, %v", s.ToolsCalled, s.TopToolShare, s.Warnings())
	}
}
