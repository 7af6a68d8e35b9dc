package document

import "strings"

// secretMark stands for a secret.
const secretMark = "<SECRET>"

// Redact replaces what looks like a secret by "<SECRET>" and returns how many there were:
//
//   - private keys in PEM form, from the line BEGIN to the line END, at most 64 KiB; where the end is missing, the lines of base64
//     that follow;
//   - AKIA and 16 of A-Z and 0-9 (AWS);
//   - ghp_, gho_, ghu_, ghs_ or ghr_ and at least 36 letters or digits (GitHub);
//   - sk- and at least 20 letters, digits, "_" or "-" (OpenAI and others), unless a letter, a digit, "_" or "-" stands before, as in
//     "task-";
//   - xoxa-, xoxb-, xoxp-, xoxr- or xoxs- and at least 10 letters, digits or "-" (Slack).
//
// That secrets are replaced is told of MidTool; the patterns are ours. It is a filter of the usual forms, no proof that a text holds
// no other. It is idempotent, keeps UTF-8 valid, and takes time linear in the text.
func Redact(text string) (string, int) {
	var next [len(secrets)]int // where a prefix stands next; len(text) if nowhere
	for i := range secrets {
		next[i] = indexFrom(text, secrets[i].prefix, 0)
	}
	var out strings.Builder
	ends := pemEnds{at: -1}
	done, n := 0, 0
	for {
		first := 0
		for i := range next {
			if next[i] < next[first] {
				first = i
			}
		}
		at := next[first]
		if at == len(text) {
			break
		}
		end := secrets[first].match(text, done, at, &ends)
		if end < 0 {
			next[first] = indexFrom(text, secrets[first].prefix, at+1)
			continue
		}
		out.WriteString(text[done:at])
		out.WriteString(secretMark)
		done = end
		n++
		for i := range next {
			if next[i] < end {
				next[i] = indexFrom(text, secrets[i].prefix, end)
			}
		}
	}
	if n == 0 {
		return text, 0
	}
	out.WriteString(text[done:])
	return out.String(), n
}

func indexFrom(text, s string, from int) int {
	if i := strings.Index(text[from:], s); i >= 0 {
		return from + i
	}
	return len(text)
}

// A secret is found by the text that it starts with; match returns its end, or -1 if it is none. What stands before done is gone.
type secret struct {
	prefix string
	match  func(text string, done, at int, ends *pemEnds) int
}

var secrets = [...]secret{
	{pemBegin, matchPEM},
	{"AKIA", func(text string, _, at int, _ *pemEnds) int {
		if end := run(text, at+4, "", at+20); end == at+20 && strings.ToUpper(text[at:end]) == text[at:end] {
			return end
		}
		return -1
	}},
	{"ghp_", matchGitHub}, {"gho_", matchGitHub}, {"ghu_", matchGitHub}, {"ghs_", matchGitHub}, {"ghr_", matchGitHub},
	{"sk-", func(text string, done, at int, _ *pemEnds) int {
		if at > done && isKeyByte(text[at-1], "_-") {
			return -1
		}
		return atLeast(20, at+3, run(text, at+3, "_-", len(text)))
	}},
	{"xox", func(text string, _, at int, _ *pemEnds) int {
		if at+5 > len(text) || strings.IndexByte("abprs", text[at+3]) < 0 || text[at+4] != '-' {
			return -1
		}
		return atLeast(10, at+5, run(text, at+5, "-", len(text)))
	}},
}

func matchGitHub(text string, _, at int, _ *pemEnds) int {
	return atLeast(36, at+4, run(text, at+4, "", len(text)))
}

func atLeast(n, from, end int) int {
	if end-from < n {
		return -1
	}
	return end
}

// run returns the end of the run of ASCII letters, digits and the others that starts at from, and most at the latest.
func run(text string, from int, others string, most int) int {
	for most = min(most, len(text)); from < most && isKeyByte(text[from], others); from++ {
	}
	return from
}

func isKeyByte(c byte, others string) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte(others, c) >= 0
}

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
	pemDash  = "-----"
	pemMost  = 64 << 10 // bytes of a key in PEM form; the longest RSA key in use has 13 KiB

	maxKeyLine = 256 // bytes of a line of a key that was cut off
)

// pemEnds remembers where the next end line is, so that many begin lines without one take linear time.
type pemEnds struct{ at int }

func (e *pemEnds) after(text string, from int) int {
	if e.at < from {
		e.at = indexFrom(text, pemEnd, from)
	}
	return e.at
}

// pemLabel returns the end of the line, begin or end, whose label starts at from, or -1 if that is not of a private key.
func pemLabel(text string, from int) int {
	label, _, ok := strings.Cut(text[from:min(len(text), from+64)], pemDash)
	if !ok || !strings.HasSuffix(strings.TrimSuffix(label, " BLOCK"), "PRIVATE KEY") {
		return -1
	}
	for i := range len(label) {
		if c := label[i]; c != ' ' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return -1
		}
	}
	return from + len(label) + len(pemDash)
}

func matchPEM(text string, _, at int, ends *pemEnds) int {
	body := pemLabel(text, at+len(pemBegin))
	if body < 0 {
		return -1
	}
	if last := ends.after(text, body); last < len(text) && last-at <= pemMost {
		if end := pemLabel(text, last+len(pemEnd)); end >= 0 {
			return end
		}
	}
	// A key that was cut off.
	end := -1
	for rest := body; rest < len(text); rest++ {
		line, _, _ := strings.Cut(text[rest:min(len(text), rest+maxKeyLine)], "\n")
		if trimmed := strings.Trim(line, " \t\r\"'\\,"); rest > body || trimmed != "" {
			if len(trimmed) < 16 || run(trimmed, 0, "+/=", len(trimmed)) < len(trimmed) {
				break
			}
			end = rest + len(line)
		}
		if rest += len(line); rest-body > pemMost {
			break
		}
	}
	return end
}
