package grounded

import (
	"context"
	"encoding/json"
	"strings"
)

// parrot is a teacher that repeats the words in place.
func parrot(_ context.Context, prompt string) (string, error) {
	type message struct {
		Index   int    `json:"index"`
		Content string `json:"content"`
		Write   bool   `json:"write,omitempty"`
	}
	var out struct {
		Messages []message `json:"messages"`
	}
	for line := range strings.SplitSeq(prompt, "\n") {
		var m message
		if json.Unmarshal([]byte(line), &m) == nil && m.Write {
			m.Write = false
			out.Messages = append(out.Messages, m)
		}
	}
	raw, err := json.Marshal(out)
	return string(raw), err
}
