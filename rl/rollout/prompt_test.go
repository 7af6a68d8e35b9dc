package rollout

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

// The sequences of an episode, token by token. A step is "shown -> action"; a task may stand before a |, a class of refusal in [ ]; an action
// of ? could not be read.
func TestPrompt(t *testing.T) {
	tests := []struct {
		name    string
		history int
		room    int
		slots   int
		steps   []string
		want    []string // context of each step
		reason  string
	}{
		{"task told", 2, 99, 0, []string{"do it|at a -> go b", "do it|at b -> go c", "do it|at c -> go d", "do it|at d ->"}, []string{
			"<bos> do it <sep> at a <act>",
			"<bos> do it <sep> at a <act> go b <end> <sep> at b <act>",
			"<bos> do it <sep> at a <act> go b <end> <sep> at b <act> go c <end> <sep> at c <act>",
			"<bos> do it <sep> at b <act> go c <end> <sep> at c <act> go d <end> <sep> at d <act>"},
			"the task is in front, then two turns, then the present one"},
		{"no history", 0, 99, 0, []string{"do it|at a -> go b", "do it|at b ->"}, []string{
			"<bos> do it <sep> at a <act>", "<bos> do it <sep> at b <act>"},
			"the present turn alone"},
		{"task repeated", 1, 99, 0, []string{"do it|do it: at a -> go b", "do it|Do it at b ->"}, []string{
			"<bos> do it <sep> : at a <act>", "<bos> do it <sep> : at a <act> go b <end> <sep> at b <act>"},
			"a text that begins with the task is shown without it, whatever the case"},
		{"task within", 1, 99, 0, []string{"do it|day a: do it ->"}, []string{"<bos> do it <sep> day a : do it <act>"}, "elsewhere it may be by chance"},
		{"task not told", 1, 99, 0, []string{"at a -> go b", "at a b -> go a", "at a ->"}, []string{
			"<bos> at a <sep> <act>",
			"<bos> at a <sep> <act> go b <end> <sep> at a b <act>",
			"<bos> at a <sep> at a b <act> go a <end> <sep> <act>"},
			"the first text has to serve; later ones are left out only where they are the same"},
		{"first text empty", 1, 99, 0, []string{" -> go b", "at a ->"}, []string{"<bos> <sep> <act>", "<bos> at a <sep> <act> go b <end> <sep> <act>"},
			"the first one that says anything"},
		{"task changes", 1, 99, 0, []string{"do it|do it a -> go b", "do b|do b a ->"}, []string{
			"<bos> do it <sep> a <act>", "<bos> do b <sep> a <act> go b <end> <sep> a <act>"}, "the next leg of a chain"},
		{"refusal", 1, 99, 0, []string{"do it|at a -> go b", "do it|[not_found]do it at a ->"}, []string{
			"<bos> do it <sep> at a <act>", "<bos> do it <sep> at a <act> go b <end> <sep> not found at a <act>"},
			"the class in words, before what is shown"},
		{"unreadable", 2, 99, 0, []string{
			"do it|at a -> ?", "do it|[bad_args][invalid action] no action\n\ndo it at a -> go b", "do it|[invalid action] at b ->"}, []string{
			"<bos> do it <sep> at a <act>",
			"<bos> do it <sep> at a <act> <end> <sep> bad args at a <act>",
			"<bos> do it <sep> at a <act> <end> <sep> bad args at a <act> go b <end> <sep> <unk> <unk> <unk> <unk> at b <act>"},
			"no action stays, and the class says what the harness wrote above the text; a world may write the same"},
		{"names", 1, 99, 2, []string{"do zoe|at max -> go zoe", "do zoe|ann max -> go ann", "do zoe|at a ->"}, []string{
			"<bos> do <slot0> <sep> at <slot1> <act>",
			"<bos> do <slot0> <sep> at <slot1> <act> go <slot0> <end> <sep> <unk> <slot1> <act>",
			"<bos> do <slot0> <sep> <unk> <slot1> <act> go <unk> <end> <sep> at a <act>"},
			"the task is read first; two slots; a word keeps its own"},
		{"action names", 1, 99, 2, []string{"at a -> go zoe", "at b -> go b", "zoe ->"}, []string{
			"<bos> at a <sep> <act>",
			"<bos> at a <sep> <act> go <unk> <end> <sep> at b <act>",
			"<bos> at a <sep> at b <act> go b <end> <sep> <slot0> <act>"},
			"what was not shown has no slot"},
		{"fits", 2, 13, 0, []string{"do it|at a -> go", "do it|at b -> go", "do it|at c ->"}, []string{
			"<bos> do it <sep> at a <act>",
			"<bos> do it <sep> at a <act> go <end> <sep> at b <act>",
			"<bos> do it <sep> at b <act> go <end> <sep> at c <act>"},
			"13 tokens are as many as are allowed; a third turn is too much, and the oldest goes first"},
		{"no history fits", 2, 12, 0, []string{"do it|at a -> go", "do it|at b ->"}, []string{
			"<bos> do it <sep> at a <act>", "<bos> do it <sep> at b <act>"},
			"one token less"},
		{"text from the left", 2, 6, 0, []string{"do it|at a -> go", "do it|[not_found]at b ->"}, []string{
			"<bos> do it <sep> a <act>", "<bos> do it <sep> b <act>"},
			"the task stays, the end of the text stays"},
		{"text gone", 2, 5, 0, []string{"do it|at a ->"}, []string{"<bos> do it <sep> <act>"}, "the task stays"},
		{"task from the right", 2, 4, 0, []string{"do it|at a ->"}, []string{"<bos> do <sep> <act>"}, "a task that does not fit itself"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			tok := tokenizer(t, &TokenizerOptions{Slots: tt.slots}, "a b c d do it go at day : not found bad args")
			p := prompt{words: tok, history: tt.history, room: tt.room}
			var got []string
			var turn envharness.Turn
			for i, step := range tt.steps {
				shownText, action, _ := strings.Cut(step, " ->")
				turn = envharness.Turn{Index: i}
				if task, rest, ok := strings.Cut(shownText, "|"); ok {
					turn.Shown.Data = map[string]any{"task": task}
					shownText = rest
				}
				if class, rest, ok := strings.Cut(shownText, "]"); ok && strings.HasPrefix(class, "[") && !strings.HasPrefix(class, "[invalid") {
					turn.Error = &envharness.ActionError{Class: envharness.ErrorClass(class[1:])}
					shownText = rest
				}
				turn.Shown.Text = shownText
				shown := p.read(turn)
				context := p.context(nil, shown)
				if len(context) > tt.room {
					t.Errorf("turn %d: %d tokens, want at most %d", i, len(context), tt.room)
				}
				got = append(got, tok.Decode(nil, context))
				if again := p.context(nil, p.read(turn)); i > 0 && !slices.Equal(context, again) {
					t.Errorf("turn %d: read again %v, then %v", i, context, again)
				}
				if i < len(tt.steps)-1 {
					action = strings.TrimSpace(action)
					p.acted(shown, tok.encode(nil, &p.names, strings.TrimSuffix(action, "?"), false), action != "?")
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			// Another episode begins afresh.
			turn.Index = 0
			fresh := prompt{words: tok, history: tt.history, room: tt.room}
			if a, b := p.context(nil, p.read(turn)), fresh.context(nil, fresh.read(turn)); !slices.Equal(a, b) {
				t.Errorf("the next episode begins with %v, want %v", a, b)
			}
		})
	}
}

// Notes stand after the task. Where they do not fit, the text goes first, then the end of the notes, then that of the task.
func TestPromptNotes(t *testing.T) {
	tests := []struct {
		name, notes string
		room        int
		want        string // the second turn
		reason      string
	}{
		{"none", " \n", 99, "<bos> do it <sep> at <slot0> <act> go <end> <sep> at b <act>", "nothing is noted"},
		{"notes", "go zoe, go max", 99, "<bos> do it <sep> go <slot1> <unk> go <slot0> <sep> at <slot0> <act> go <end> <sep> at b <act>",
			"the names of the first text come before those of the notes"},
		{"history goes", "go b go", 14, "<bos> do it <sep> go b go <sep> at b <act>", "they stay longer than turns"},
		{"text goes", "go b go", 10, "<bos> do it <sep> go b go <sep> b <act>", "and than what is shown"},
		{"notes go", "go b go", 8, "<bos> do it <sep> go b <sep> <act>", "from the right"},
		{"task goes", "go b go", 4, "<bos> do <sep> <act>", "last of all"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		tok := tokenizer(t, &TokenizerOptions{Slots: 2}, "a b c d do it go at")
		p := prompt{words: tok, history: 1, room: tt.room, notes: tt.notes}
		data := map[string]any{"task": "do it"}
		for range 2 { // episodes
			shown := p.read(envharness.Turn{Shown: envharness.Observation{Text: "at max", Data: data}})
			p.acted(shown, tok.Encode(nil, nil, "go"), true)
			got := tok.Decode(nil, p.context(nil, p.read(envharness.Turn{Index: 1, Shown: envharness.Observation{Text: "at b", Data: data}})))
			if got != tt.want {
				t.Errorf("%s: %q, want %q: %s", tt.name, got, tt.want, tt.reason)
			}
		}
	}
}

// Whatever is shown, a context fits, begins with BOS, ends with Act, and with more room loses nothing that it had: its task is a prefix of the
// longer one's, and what it shows a suffix.
func TestPromptFits(t *testing.T) {
	tok := tokenizer(t, nil, "a b c d")
	rapid.Check(t, func(rt *rapid.T) {
		words := func(label string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(strings.Fields("a b c d zoe")), 0, 12).Draw(rt, label), " ")
		}
		room, history := rapid.IntRange(4, 40).Draw(rt, "room"), rapid.IntRange(0, 3).Draw(rt, "history")
		p, full := prompt{words: tok, history: history, room: room}, prompt{words: tok, history: history, room: 1 << 20}
		task := words("task")
		for i := range rapid.IntRange(1, 5).Draw(rt, "turns") {
			turn := envharness.Turn{Index: i, Shown: envharness.Observation{Text: words("text"), Data: map[string]any{"task": task}}}
			shown := p.read(turn)
			long := full.context(nil, full.read(turn))
			short := p.context(nil, shown)
			if len(short) > room || short[0] != BOS || short[len(short)-1] != Act || len(long) <= room && !slices.Equal(short, long) {
				rt.Fatalf("room %d: %v, all of it %v", room, short, long)
			}
			if len(long) > room {
				at := slices.Index(short, Sep)
				if !slices.Equal(short[:at], long[:at]) {
					rt.Errorf("task %v of %v", short[:at], long)
				}
				last := len(short) - 1
				for short[last] != Sep {
					last--
				}
				if tail := short[last+1:]; !slices.Equal(tail, long[len(long)-len(tail):]) {
					rt.Errorf("shown %v of %v", tail, long)
				}
				if turns, most := strings.Count(tok.Decode(nil, short), "<end>"), strings.Count(tok.Decode(nil, long), "<end>"); turns > most {
					rt.Errorf("%d turns of %d", turns, most)
				}
			}
			action := tok.Encode(nil, nil, words("action"))
			p.acted(shown, action, true)
			full.acted(shown, action, true)
		}
	})
}
