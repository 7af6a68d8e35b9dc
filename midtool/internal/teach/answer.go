package teach

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// readAnswer takes the contents for the messages texts, in their order, from {"messages":[{"index":n,"content":"..."}]}.
// The violation says where in the answer the first fault is.
func readAnswer(answer string, texts []int) ([]string, *midtool.Violation) {
	bad := func(path, format string, args ...any) ([]string, *midtool.Violation) {
		return nil, &midtool.Violation{Rule: "bad_answer", Path: path, Detail: fmt.Sprintf(format, args...)}
	}
	if len(answer) > maxAnswer {
		return bad("", "%d bytes, want at most %d", len(answer), maxAnswer)
	}
	body := unfence(answer)
	v, err := jsonval.Parse([]byte(body))
	if err != nil {
		return bad("", "want one JSON object and nothing else: %v", err)
	}
	list := v.Get("messages")
	if v.Kind != jsonval.Object || list == nil || list.Kind != jsonval.List || len(v.Members) != 1 {
		return bad("", `want an object with a list "messages" alone`)
	}
	contents := make([]string, len(texts))
	for i := range list.List {
		m, path := &list.List[i], "/messages/"+strconv.Itoa(i)
		index, content := m.Get("index"), m.Get("content")
		if m.Kind != jsonval.Object || index == nil || content == nil || len(m.Members) != 2 {
			return bad(path, `want an object with "index" and "content" alone`)
		}
		n, err := strconv.Atoi(index.Text)
		k := slices.Index(texts, n)
		switch {
		case index.Kind != jsonval.Number || err != nil:
			return bad(path+"/index", "want an integer, got %s %.40s", index.Kind, index.Encode(jsonval.Compact))
		case k < 0:
			return bad(path+"/index", "message %d is not to be written", n)
		case contents[k] != "":
			return bad(path+"/index", "message %d is written twice", n)
		case content.Kind != jsonval.String:
			return bad(path+"/content", "want a string, got %s", content.Kind)
		case strings.TrimSpace(content.Text) == "":
			return bad(path+"/content", "message %d is blank", n)
		case strings.ContainsRune(content.Text, '\uFFFD'):
			// What invalid UTF-8 becomes on the way through other software.
			return bad(path+"/content", "message %d has a replacement character", n)
		}
		contents[k] = content.Text
	}
	if k := slices.Index(contents, ""); k >= 0 {
		return bad("/messages", "message %d is missing", texts[k])
	}
	if n := keys(body); n != 1+2*len(list.List) {
		return bad("", "a key is given twice")
	}
	return contents, nil
}

// unfence takes off one fence of three backticks, with or without "json", if it is around all of the answer.
func unfence(answer string) string {
	text := strings.TrimSpace(answer)
	body, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	body = strings.TrimPrefix(body, "json")
	inner, ok := strings.CutSuffix(body, "\n```")
	if !ok || !strings.HasPrefix(strings.TrimLeft(body, " \t\r"), "\n") {
		return text
	}
	return inner
}

// keys counts the members of the objects in a JSON text, of equal keys each: the colons outside strings.
func keys(text string) int {
	n, inside := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			inside = !inside
		case inside && text[i] == '\\':
			i++
		case !inside && text[i] == ':':
			n++
		}
	}
	return n
}
