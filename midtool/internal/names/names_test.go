package names

import (
	"strings"
	"testing"
)

func TestWordsAndMeaning(t *testing.T) {
	for _, tt := range []struct{ name, words, class, stem string }{ // spec 3.5
		{"get_user_by_id", "get user by id", "get", "user"}, {"listAllCategories", "list all categories", "list", "category"},
		{"API-delete-boxes", "api delete boxes", "delete", "api box"}, {"weatherStatus", "weather status", "", "weather status"},
		{"web.search_v2", "web search v2", "search", "web v2"}, {"createÄpfel", "create äpfel", "create", "äpfel"}, {"___", "", "", ""},
	} {
		m := MeaningOf(tt.name)
		if got := strings.Join(Words(tt.name), " "); got != tt.words || string(m.Class) != tt.class || m.Stem != tt.stem {
			t.Errorf("%s: %q %q %q, want %q %q %q", tt.name, got, m.Class, m.Stem, tt.words, tt.class, tt.stem)
		}
	}
}
