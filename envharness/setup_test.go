package envharness_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

// A Setup in words names its actions, and stays short.
func TestSetupInWords(t *testing.T) {
	say := func(text string) envharness.Action {
		raw, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		return envharness.Action{Name: "say", Args: raw}
	}
	look := envharness.Action{Name: "look"}
	long := say(strings.Repeat("é", 200))
	for _, tt := range []struct {
		setup  envharness.Setup
		want   string
		reason string
	}{
		{envharness.Setup{}, "nothing changes", "no actions"},
		{envharness.Setup{Aid: true}, "nothing changes", "no actions of a solution either"},
		{envharness.Setup{Actions: []envharness.Action{look}}, "before the first turn 1 action is carried out: look", "one"},
		{envharness.Setup{Actions: []envharness.Action{look, say("hi")}, Aid: true},
			`before the first turn 2 actions of a solution are carried out: look, say {"text":"hi"}`, "two, and part of a solution"},
		{envharness.Setup{Actions: []envharness.Action{look, look, look, look, look, look}},
			"before the first turn 6 actions are carried out: look, look, look, look, look, look", "the sixth is as short as what would stand for it"},
		{envharness.Setup{Actions: []envharness.Action{look, look, look, look, look, look, look}},
			"before the first turn 7 actions are carried out: look, look, look, look, look, 2 more", "the first five"},
		{envharness.Setup{Actions: []envharness.Action{{Name: "a\nb"}}}, `before the first turn 1 action is carried out: "a\nb"`, "on one line"},
		{envharness.Setup{Actions: []envharness.Action{long}},
			`before the first turn 1 action is carried out: say {"text":"` + strings.Repeat("é", 67) + "...", "80 characters"},
	} {
		if got := tt.setup.String(); got != tt.want {
			t.Errorf("got %s\nwant %s (%s)", got, tt.want, tt.reason)
		}
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.want)
		}
	}
	many := make([]envharness.Action, 1000)
	for i := range many {
		many[i] = long
	}
	if got := (envharness.Setup{Actions: many}).String(); len(got) > 2000 || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
