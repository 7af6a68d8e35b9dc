package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
)

// Whatever comes in, Serve ends without an error, answers every line up to the one that closes with one reply, and a reply is one line
// with an id, that of its request or null, and either ok or an error with a code.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"op":"hello","protocol":1}`,
		`{"id":2,"op":"reset","task":"3,3,8,8","seed":7,"options":{}}` + "\n" + `{"id":3,"op":"step","action":{"name":"stop","args":{}}}`,
		`{"id":2,"op":"reset"}` + "\n" + `{"id":3,"op":"step","action":{"name":"combine","args":"{"}}` + "\n" + `{"id":3,"op":"observe"}`,
		`{"id":4,"op":"state"}` + "\n" + `{"id":5,"op":"tasks","split":"test"}` + "\n" + `{"id":6,"op":"snapshot"}` + "\n" + `{"id":7,"op":"plan"}`,
		`{"id":8,"op":"rewind"}` + "\n" + `{"id":9,"op":"restore","snapshot":{"a":[1]}}` + "\n\n" + `{"id":6,"op":"close"}` + "\nmore",
		"\xff\n[]\nnull\n{}\n{\"id\":null}\n{\"id\":1,\"id\":2,\"op\":\"step\",\"action\":null}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		if err := Serve(context.Background(), game24.New(nil), bytes.NewReader(input), &out); err != nil {
			t.Fatal(err)
		}
		got := strings.SplitAfter(out.String(), "\n")
		if last := got[len(got)-1]; last != "" {
			t.Fatalf("%q has no end", last)
		}
		got = got[:len(got)-1]
		want := strings.Split(string(input), "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		if i := slices.IndexFunc(want, closes); i >= 0 {
			want = want[:i+1]
		}
		if len(got) != len(want) {
			t.Fatalf("%d answers to %d lines", len(got), len(want))
		}
		for i, line := range got {
			var r struct {
				ID    *uint64         `json:"id"`
				OK    json.RawMessage `json:"ok"`
				Error *wireError      `json:"error"`
			}
			if err := strict(json.RawMessage(line), &r); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if (r.OK == nil) == (r.Error == nil) || r.OK != nil && !object(r.OK) || r.Error != nil && r.Error.Code == "" {
				t.Fatalf("%q", line)
			}
			id, _, err := parse([]byte(want[i]))
			if (id == nil) != (r.ID == nil) || id != nil && *id != *r.ID {
				t.Fatalf("%q is answered by %q", want[i], line)
			}
			if err != nil && (r.Error == nil || r.Error.Code != codeBadMessage) {
				t.Fatalf("%q is answered by %q", want[i], line)
			}
		}
	})
}

func closes(line string) bool {
	_, q, err := parse([]byte(line))
	return err == nil && q.Op == "close"
}

// Whatever a program answers, a call returns the answer or an error that is no failure of a policy, and a broken program stays broken.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"id":2,"ok":{"obs":{"text":"x","data":{"a":[1,null]},"actions":[{"name":"y"}]},"reward":0.5,"terminated":true,"truncated":false}}`,
		`{"id":2,"ok":{"obs":{},"reward":1,"terminated":false,"truncated":true,"reason":"r","error":{"class":"other","message":""},"info":{}}}`,
		`{"id":2,"error":{"code":"ErrEpisodeOver","message":"m"}}`,
		`{"id":null,"error":{"code":"ErrBadMessage","message":"m"}}`,
		"\n", "{", `{"id":2,"ok":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		p := startPipe(func(r io.Reader, w io.Writer) error {
			in := newLines(r)
			for _, line := range [][]byte{[]byte(`{"id":1,"ok":{"protocol":1,"capabilities":{}}}`), answer} {
				if _, err := in.next(); err != nil {
					return err
				}
				if _, err := w.Write(append(slices.Clip(line), '\n')); err != nil {
					return err
				}
			}
			_, err := in.next()
			return err
		})
		env, err := open(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		defer env.Close()
		got, err := env.Step(context.Background(), envharness.Action{Name: "x"})
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if _, err := envharness.CanonicalJSON(got); err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(string(answer), "\n")
		m, err := fields([]byte(line))
		if err != nil || string(bytes.TrimSpace(m["id"])) != "2" || m["ok"] == nil || len(m) != 2 {
			t.Fatalf("%q is taken for an answer", line)
		}
	})
}
