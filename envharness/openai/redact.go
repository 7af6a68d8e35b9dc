package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	redacted = "[redacted]"
	// A value below this is too short to be a secret, and taking it out would leave nothing of a text.
	minSecret = 4
	// What a model says is changed for long secrets alone: the keys of local servers are often words such as "ollama".
	minSaid = 12
	maxText = 300 // bytes of a text of the server's in an error
)

// A redactor takes secrets out of texts.
type redactor struct {
	all  *strings.Replacer // for errors
	said *strings.Replacer // for what the model says
}

// newRedactor knows the key, the values of the headers, and the user and query of the URL.
func newRedactor(key string, header http.Header, u *url.URL) redactor {
	var all, said []string
	add := func(s string, credential bool) {
		if len(s) < minSecret {
			return
		}
		quoted, _ := json.Marshal(s)
		forms := []string{
			s, string(quoted[1 : len(quoted)-1]), url.QueryEscape(s), url.PathEscape(s),
			base64.StdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)),
		}
		all = append(all, forms...)
		if credential && len(s) >= minSaid {
			said = append(said, forms...)
		}
	}
	add(key, true)
	for name, values := range header {
		for _, v := range values {
			add(v, credential(name))
			if scheme, rest, ok := strings.Cut(v, " "); ok && scheme != "" { // "Bearer" or "Basic" and what follows
				add(strings.TrimSpace(rest), credential(name))
			}
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		add(u.User.Username(), false)
		add(password, true)
		add(u.User.String(), true)
		add(strings.TrimPrefix(basic(u.User), "Basic "), true)
	}
	if u.RawQuery != "" {
		add(u.RawQuery, true)
		for name, values := range u.Query() {
			for _, v := range values {
				add(v, credential(name))
			}
		}
	}
	return redactor{all: replacer(all), said: replacer(said)}
}

// replacer takes the longest first, so that no part of one stays behind.
func replacer(secrets []string) *strings.Replacer {
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	var pairs []string
	for _, s := range slices.Compact(secrets) {
		pairs = append(pairs, s, redacted)
	}
	return strings.NewReplacer(pairs...)
}

// credential tells that the value of a header or parameter may be one: any may, but of those that say what is sent and from where.
func credential(name string) bool {
	switch name = strings.ToLower(name); name {
	case "user-agent", "referer", "http-referer", "x-title", "openai-beta", "api-version", "cache-control":
		return false
	}
	return !strings.HasPrefix(name, "accept") && !strings.HasPrefix(name, "content-")
}

var (
	anyURL  = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"']+`)
	ofUser  = regexp.MustCompile(`(://)[^\s"'/?#]*@`)
	ofQuery = regexp.MustCompile(`(://[^\s"'?#]*[?#])[^\s"']+`)
)

// failure makes a short line of an error on the way, without the addresses in it.
func (r redactor) failure(err error) string {
	return r.text(anyURL.ReplaceAllString(err.Error(), redacted))
}

// text makes a short line of a text that came from outside.
func (r redactor) text(s string) string {
	s = r.all.Replace(s)
	s = ofQuery.ReplaceAllString(ofUser.ReplaceAllString(s, "${1}"+redacted+"@"), "${1}"+redacted)
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c)
	}), " ")
	return cut(s, maxText)
}

// cut shortens s to at most n bytes and a mark.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}
