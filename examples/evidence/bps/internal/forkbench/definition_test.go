package forkbench

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A rule that is written as a block and read again is the same rule, whatever the drawn parameters.
func TestDefinitionRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		for k := range kinds {
			for _, s := range []rules{drawRules(r), standardRules()} {
				if k == Query && s == standardRules() {
					continue // its words are no marks, and no document defines it
				}
				text, _ := s.describe(k, r, 0)
				defs, err := definitions("Before.\n" + text + "After.")
				if err != nil || len(defs) != 1 || defs[0] != (definition{k, s.get(k)}) {
					t.Fatalf("%s\ngot %+v, %v, want %+v", text, defs, err, s.get(k))
				}
			}
		}
	}
}

// What is not well formed is no definition, and does not hide a later one.
func TestMalformedDefinition(t *testing.T) {
	const good = "```rule checksum\npoly = 0x8005\nstart = 0\nfinal = 0\nmirrored = yes\n```\n"
	valid := definition{Checksum, checksumRule{poly: 0x8005, mirrored: true}}
	for _, tt := range []struct{ name, text, reason string }{
		{"unknown kind", strings.Replace(good, "checksum", "compress", 1), "there is no such operation"},
		{"no end", strings.TrimSuffix(good, "```\n"), "the fence is not closed before the next one"},
		{"missing key", strings.Replace(good, "start = 0\n", "", 1), "all parameters are needed"},
		{"unknown key", strings.Replace(good, "start", "begin = 1\nstart", 1), "a typing error must not pass"},
		{"key twice", strings.Replace(good, "start", "start = 1\nstart", 1), "which one counts is not said"},
		{"no value", strings.Replace(good, "0x8005", "", 1), "a line is key = value"},
		{"not a number", strings.Replace(good, "0x8005", "many", 1), "a polynomial is a number"},
		{"out of range", strings.Replace(good, "0x8005", "0x18005", 1), "17 bits"},
		{"no choice", strings.Replace(good, "yes", "perhaps", 1), "yes or no"},
		{"long value", strings.Replace(good, "yes", strings.Repeat("y", maxValue+1), 1), "values are short"},
		{"many lines", strings.Replace(good, "start", strings.Repeat("a = 1\n", maxFields)+"start", 1), "so are blocks"},
		{"short alphabet", "```rule encoding\nalphabet = abc\npad = none\ngroup = 0\n```\n", "32 letters"},
		{"letter twice",
			"```rule encoding\nalphabet = aacdefghijklmnopqrstuvwxyz234567\npad = none\ngroup = 0\n```\n", "the way back would not be clear"},
		{"pad is a letter", "```rule encoding\nalphabet = abcdefghijklmnopqrstuvwxyz234567\npad = a\ngroup = 0\n```\n", "nor here"},
		{"no working day",
			"```rule calendar\nfirst-month = 4\nyear-named-after = end\nrest-days = sun mon tue wed thu fri sat\nrest-day-moves = back\n```\n",
			"a move would never end"},
		{"no such day",
			"```rule calendar\nfirst-month = 4\nyear-named-after = end\nrest-days = son\nrest-day-moves = back\n```\n", "names are English"},
		{"mark twice", "```rule template\nopen = <\nclose = >\nupper = !\nreverse = !\nfirst = ?\n```\n", "marks are told apart"},
		{"mark with a letter", "```rule template\nopen = <\nclose = >\nupper = u\nreverse = !\nfirst = ?\n```\n", "it could be a name"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.name)
		}
		defs, err := definitions(tt.text + good)
		if err == nil || len(defs) != 1 || defs[0] != valid {
			t.Errorf("%s: got %+v, %v, want an error and the good definition alone (%s)", tt.name, defs, err, tt.reason)
		}
	}
}

// The executor ends without a panic on any text, query and form, and what it writes is bounded by what it reads.
func FuzzExecutor(f *testing.F) {
	b, err := New(1)
	if err != nil {
		f.Fatal(err)
	}
	in := b.UnseenTasks[0].tests[0].in
	for i, d := range b.Unseen.Documents {
		if i%4 == 0 {
			f.Add(d.Body, in.query, in.form)
		}
	}
	f.Add("```rule template\nopen = (\nclose = )\nupper = !\nreverse = +\nfirst = ?\n```", "sort town", "((((!town)")
	f.Add("```rule query\n```rule query\n= = =\n```", "and and and", "{{")
	const all = Set(1<<kinds - 1)
	f.Fuzz(func(t *testing.T, text, query, form string) {
		defs, _ := definitions(text)
		s := resolve(defs)
		for _, needs := range []Set{all, all &^ setOf(Query)} {
			out, err := s.run(needs, input{rows: in.rows, query: query, form: form})
			// A column is at most 12 bytes and needs 2 of a form; an encoding adds three fifths and a dash a letter, the rest is a checksum.
			if limit := 4 * (len(in.rows)*(6*len(form)+1) + 16); err == nil && len(out) > limit {
				t.Errorf("%d bytes, want at most %d", len(out), limit)
			}
		}
	})
}
