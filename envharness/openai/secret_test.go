package openai_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/openai"
)

// Whatever a server, a proxy or a network tells of a secret, no error and no trace has it in any form.
func TestNoSecretComesBack(t *testing.T) {
	const second = "header-secret-55aa"
	in64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	forms := []string{key, second, escaped, url.PathEscape(key), in64(key), in64("amy:" + key)}
	long := strings.Repeat("x", 290) + key // the end of a text that is cut
	quoted := fmt.Sprintf("%q", strings.Join(forms, " and ")+" and Bearer "+key)
	answers := map[string]func(w http.ResponseWriter, r *http.Request){
		"body of 401": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(401)
			fmt.Fprintf(w, `{"error":{"message":%s,"code":%s,"type":%s}}`, quoted, quoted, quoted)
		},
		"long text": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"error":{"message":%q}}`, long)
		},
		"plain text": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(403); _, _ = io.WriteString(w, quoted) },
		"detail": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(422)
			fmt.Fprintf(w, `{"detail":[{"msg":%s}]}`, quoted)
		},
		"header": func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Echo", key); w.WriteHeader(404) },
		"status line": func(w http.ResponseWriter, r *http.Request) {
			hijack(w, "HTTP/1.1 418 "+key+"\r\nContent-Length: 0\r\n\r\n")
		},
		"no status line": func(w http.ResponseWriter, r *http.Request) { hijack(w, key+"\r\n\r\n") },
		"broken header":  func(w http.ResponseWriter, r *http.Request) { hijack(w, "HTTP/1.1 200 OK\r\n"+key+"\r\n\r\n") },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://x.invalid/"+escaped+"?k="+escaped, http.StatusTemporaryRedirect)
		},
		"redirect to nowhere": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://["+key)
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"stream error": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"error\":{\"message\":%s,\"code\":400}}\n\n", quoted)
		},
		"stream event": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: error\ndata: %s\n\n", quoted)
		},
		"no JSON":  func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, key) },
		"bad JSON": func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `{"choices":{%s:1}}`, quoted) },
		"text": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"choices":[{"message":{"content":%s}}]}`, quoted)
		},
		"refusal": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"choices":[{"message":{"refusal":%s}}]}`, quoted)
		},
		"call": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"choices":[{"message":{"tool_calls":[{"id":%s,"function":{"name":%[1]s,"arguments":%[1]s}},`+
				`{"function":{"name":"combine","arguments":{"i":%[1]s}}}]}}]}`, quoted)
		},
		"pieces of a text": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range key {
				fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", key[i:i+1])
			}
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
		},
	}
	for name, f := range answers {
		s := httptest.NewServer(http.HandlerFunc(f))
		defer s.Close()
		withUser := strings.Replace(s.URL, "//", "//amy:"+escaped+"@", 1)
		for kind, o := range map[string]openai.Options{
			"key":   {BaseURL: s.URL, APIKey: key, Header: http.Header{"X-Second": {second}}},
			"user":  {BaseURL: withUser, Header: http.Header{"X-Second": {second}}},
			"query": {BaseURL: s.URL + "/?sig=" + escaped, Header: http.Header{"X-Second-Key": {second}}},
			"token": {BaseURL: s.URL, Header: http.Header{"Authorization": {"Token " + key}, "X-Second-Key": {second}}},
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				o.Retries = new(1)
				c := connect(t, o)
				_, err := c.Generate(t.Context(), "hi")
				_, err2 := c.Embed(t.Context(), []string{"hi"})
				traces, err3 := envharness.Rollouts(t.Context(), game24.World(nil), nil, func(int) (envharness.Policy, error) {
					return c.Policy(nil), nil
				}, []envharness.Task{{ID: "1,1,4,6"}}, nil)
				var b bytes.Buffer
				if err := envharness.WriteTraces(&b, traces); err != nil {
					t.Fatal(err)
				}
				for _, text := range []string{deeply(err), deeply(err2), deeply(err3), b.String()} {
					for i, secret := range forms {
						if strings.Contains(text, secret) && (i < len(forms)-1 || kind == "user") { // only there it is one
							t.Errorf("%q is in %s", secret, text)
						}
					}
				}
			})
		}
	}
}

// deeply prints an error, all it wraps, and their fields.
func deeply(err error) string {
	var b strings.Builder
	for ; err != nil; err = errors.Unwrap(err) {
		fmt.Fprintf(&b, "%v %+v %#v\n", err, err, err)
	}
	return b.String()
}

func hijack(w http.ResponseWriter, raw string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, raw)
	_ = conn.Close()
}

// What a transport of the caller's says of addresses is not passed on.
func TestErrorsOfTransports(t *testing.T) {
	c := connect(t, openai.Options{BaseURL: "https://example.invalid/v1?sig=" + escaped, HTTPClient: &http.Client{
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			inner := &url.Error{Op: "Post", URL: r.URL.String(), Err: io.EOF}
			return nil, fmt.Errorf("proxy http://bob:%s@proxy.invalid:3128/?x=%s: %w", "other-secret", "other-query", inner)
		}),
	}, Retries: new(0)})
	_, err := c.Generate(t.Context(), "the prompt")
	for _, secret := range []string{key, escaped, "other-secret", "other-query", "example.invalid", "the prompt"} {
		if err == nil || strings.Contains(deeply(err), secret) {
			t.Errorf("%s: %s", secret, deeply(err))
		}
	}
}
