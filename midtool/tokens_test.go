package midtool

import (
	"testing"
)

func TestApproxTokens(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{ // spec, worked example 11; the last two by hand: a run of blanks and of line breaks
		{"", 0}, {"hello world", 2}, {"get_weather", 3}, {`{"city": "Oslo"}`, 6}, {"Zürich", 3}, {"2027-03-03", 10},
		{"internationalisation", 2}, {"a  b", 3}, {"a\r\n\nb", 3}, {"******", 2},
	} {
		if got := ApproxTokens(tt.text); got != tt.want {
			t.Errorf("ApproxTokens(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}
