package names

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestWordsAndMeaning(t *testing.T) {
	for _, tt := range []struct{ name, words, class, stem string }{
		{"get_user_by_id", "get user by id", "get", "user"}, {"listAllCategories", "list all categories", "list", "category"},
		{"API-delete-boxes", "api delete boxes", "delete", "api box"}, {"weatherStatus", "weather status", "", "weather status"},
		{"web.search_v2", "web search v2", "search", "web v2"}, {"createÄpfel", "create äpfel", "create", "äpfel"}, {"___", "", "", ""},
		{"get_all_users", "get all users", "get", "user"}, {"getURL", "get url", "get", "url"}, {"patch_the_glasses", "patch the glasses", "update", "glass"},
	} {
		m := MeaningOf(tt.name)
		if got := strings.Join(Words(tt.name), " "); got != tt.words || string(m.Class) != tt.class || m.Stem != tt.stem {
			t.Errorf("%s: %q %q %q, want %q %q %q", tt.name, got, m.Class, m.Stem, tt.words, tt.class, tt.stem)
		}
	}
	if !MeaningOf("get_user_by_id").Rivals(MeaningOf("fetchUsers")) || MeaningOf("get_user").Rivals(MeaningOf("list_users")) {
		t.Error("rivals have the same class and the same noun")
	}
}

// The fast way over ASCII gives what the way over code points gives, and appends to what is there.
func TestWordsBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom([]string{"get", "User", "ID", "_", "-", " ", "7", "ä", "Ä", "名", "\xff", "é"}),
			rapid.String())).Draw(t, "parts"), "")
		want := appendRunes(nil, s)
		if got := Words(s); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", s, got, want)
		}
		if got := AppendWords([]string{"x"}, s); !slices.Equal(got[1:], want) || got[0] != "x" {
			t.Fatalf("%q: %q", s, got)
		}
	})
}

func TestSequenceIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab"}), 0, 8)
		text, seq := words.Draw(t, "text"), words.Draw(t, "seq")
		// No word has a blank, so that whole words are found in the joined text.
		want := strings.Contains(" "+strings.Join(text, " ")+" ", " "+strings.Join(seq, " ")+" ") || len(seq) == 0
		if got := SequenceIn(text, seq); got != want {
			t.Fatalf("%q in %q: %v", seq, text, got)
		}
	})
}

func TestSingular(t *testing.T) {
	for in, want := range map[string]string{"cities": "city", "boxes": "box", "glasses": "glass", "dishes": "dish", "users": "user", "class": "class",
		"status": "status", "analysis": "analysis", "s": "", "": "", "quizzes": "quizz"} {
		if got := Singular(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestLongDate(t *testing.T) {
	for _, bad := range []string{"", "2027-02-30", "2027-3-3", "20270303xx", "2027-03-03T00:00:00Z", "2027/03/03"} {
		if s, ok := LongDate(bad); ok || s != "" {
			t.Errorf("%q is no date: %q", bad, s)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		day := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "second"), 0).UTC()
		long, ok := LongDate(day.Format(time.DateOnly))
		back, err := time.Parse("2 January 2006", long)
		if !ok || err != nil || back.Format(time.DateOnly) != day.Format(time.DateOnly) {
			t.Fatalf("%v: %q, %v", day, long, err)
		}
	})
}

func TestKeyPhrase(t *testing.T) {
	for _, tt := range []struct {
		keys string
		flag bool
		want string
	}{
		{"start_date", false, "start date"}, {"filters/0/start_date", false, "start date of the first filter"}, {"include_details", true, "details"},
		{"include_details", false, "include details"}, {"q", false, "query"}, {"tags/10", false, "number 11 tag"}, {"-1/-1", false, "1 of the 1"},
		{"", false, "value"}, {"0", false, "0"}, {"a/b/c", false, "c of the b of the a"},
	} {
		if got := KeyPhrase(strings.Split(tt.keys, "/"), tt.flag); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.keys, got, tt.want)
		}
	}
}

func BenchmarkWords(b *testing.B) {
	for _, s := range []string{"get_user_by_id", "getUserByID", strings.Repeat("please get the weather in Oslo ", 4), strings.Repeat("überall Äpfel ", 8)} {
		b.Run(s[:4], func(b *testing.B) {
			b.ReportAllocs()
			var buf []string
			for b.Loop() {
				buf = AppendWords(buf[:0], s)
			}
		})
	}
}

func BenchmarkMeaningOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		MeaningOf("get_all_users_by_id")
	}
}
