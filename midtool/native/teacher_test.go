package native

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throughline-go/throughline/midtool"
)

// writer is a teacher that greets and then says what the templates of a corpus say.
func writer(corpus *midtool.Corpus, asked *atomic.Int64) midtool.Generator {
	answers := make(map[string]string)
	for _, s := range corpus.Samples {
		type text struct {
			Index   int    `json:"index"`
			Content string `json:"content"`
		}
		var texts []text
		for i, m := range s.Messages {
			if m.Content != "" && (m.Role == midtool.RoleUser || m.Role == midtool.RoleAssistant) {
				content := m.Content
				if i == 0 {
					content = "Good morning! " + content
				}
				texts = append(texts, text{i, content})
			}
		}
		answers[s.ID] = string(toJSON(map[string]any{"messages": texts}))
	}
	return func(_ context.Context, prompt string) (string, error) {
		asked.Add(1)
		for id, answer := range answers {
			if strings.Contains(prompt, " "+id+"\n") {
				return answer, nil
			}
		}
		return "", errors.New("no such sample")
	}
}

// A teacher's words take the place of the templates' where they pass, from the file the second time, and are tagged.
func TestTeacher(t *testing.T) {
	plain := generate(t, shop(), &Options{Samples: 60})
	var asked atomic.Int64
	o := Options{Samples: 60, Teacher: writer(plain, &asked), Answers: filepath.Join(t.TempDir(), "answers.jsonl"), Workers: 2}
	taught := generate(t, shop(), &o)
	if taught.Kept < 50 || int(asked.Load()) < taught.Kept {
		t.Fatalf("%d kept after %d questions: %v", taught.Kept, asked.Load(), taught.Reasons())
	}
	for _, s := range taught.Samples {
		if s.Generator != "teacher" || !strings.HasPrefix(s.Messages[0].Content, "Good morning! ") || s.Messages[0].Template != "" {
			t.Errorf("%s: %s said %q", s.ID, s.Generator, s.Messages[0].Content)
		}
		if v := midtool.Validate(s); v != nil {
			t.Errorf("%s: %v", s.ID, v)
		}
	}
	before := asked.Load()
	o.Workers = 1
	if again := generate(t, shop(), &o); encode(t, again) != encode(t, taught) || asked.Load() != before {
		t.Errorf("%d questions for answers that are on file", asked.Load()-before)
	}
	o.TeacherShare, o.Answers = new(0.5), ""
	counts := make(map[string]int)
	for _, s := range generate(t, shop(), &o).Samples {
		counts[s.Generator]++
	}
	if counts["teacher"] < 15 || counts["template"] < 15 {
		t.Errorf("half of the samples by the teacher: %v", counts)
	}
}

// A teacher that answers nothing of use is asked so often and no more, and all it was asked for is dropped with the
// reason.
func TestTeacherGarbage(t *testing.T) {
	for _, tt := range []struct {
		answer, reason string
		err            error
	}{
		{"Sure! Here is the conversation.", "bad_answer", nil},
		{"", "teacher", errors.New("the line is dead")},
	} {
		var asked atomic.Int64
		c := generate(t, shop(), &Options{Samples: 20, Attempts: 2, Workers: 2, Teacher: func(context.Context, string) (string, error) {
			asked.Add(1)
			return tt.answer, tt.err
		}})
		if c.Kept != 0 || asked.Load() != 2*int64(c.Reasons()[tt.reason]) || c.Reasons()[tt.reason] < 15 {
			t.Errorf("%q: %d kept after %d questions: %v", tt.answer, c.Kept, asked.Load(), c.Reasons())
		}
		for _, r := range c.Rejected {
			if r.Sample == "" || r.Tool == "" {
				t.Errorf("%v names no sample or no tool", r.Error())
			}
		}
	}
}

// A canceled context ends the work while a teacher is being asked.
func TestTeacherCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c, err := Generate(ctx, shop(), &Options{Samples: 20, Workers: 2, Teacher: func(ctx context.Context, _ string) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	}})
	if c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", c, err)
	}
}

// A file of answers that is damaged ends the work before anything is asked.
func TestTeacherAnswersDamaged(t *testing.T) {
	c, err := Generate(context.Background(), shop(), &Options{Samples: 5, Answers: t.TempDir(), Teacher: func(context.Context, string) (string, error) {
		t.Error("asked")
		return "", nil
	}})
	if c != nil || err == nil {
		t.Errorf("%v, %v", c, err)
	}
}
