// Package teach lets a language model write the words of a sample whose calls are settled.
//
// The model gets the tools, the conversation and what each of its messages has to do, and answers with the contents of the
// user's and the assistant's messages in one strict JSON object. It never changes a tool, a call, a result or the plan. What
// it writes passes the same checks as every other sample, goes back to it with what is wrong, or is dropped with the reason
// (prompt, form of the answer and checks are ours).
//
// The words are to be English: the prompt asks for it, and a refusal is known by English words. Whether a text is true in all
// it says no check can tell; a text that denies one thing and makes up another passes.
package teach

import (
	"context"
	"errors"
	"slices"

	"github.com/throughline-go/throughline/midtool"
)

// A Teacher rewrites what users and assistants say. It is safe for concurrent use.
type Teacher struct {
	Generate midtool.Generator
	Attempts int // for each sample, 1 to 10; less counts as 1
}

// A Check lists what is wrong with a sample. It may set the sample's Evidence; an error ends the work.
type Check = func(*midtool.Sample) ([]midtool.Violation, error)

// maxAnswer is the longest answer in bytes that is read; a sample has a few thousand.
const maxAnswer = 1 << 20

// Rewrite returns the sample with other words: the Content of each user and assistant message that has one, with an empty
// Template, and "teacher" as the Generator. The sample given is left as it is.
//
// check says what is wrong with an attempt. If it sets Evidence, an argument that the words no longer carry is wrong too.
// All violations go back to the model with its answer. An answer can fail
//
//   - bad_answer: it is not the object asked for, with the place in the answer: text around it (one fence of three backticks
//     is taken off), another key, an index that is missing, unknown or given twice, a value of another kind, a blank or
//     damaged content, more than 1 MiB;
//   - no_fact: an answer after results repeats none of their values as a whole word or number;
//   - new_number: an assistant's text has a number that nothing before it has;
//   - unsaid: words no longer carry an argument that they carried before;
//   - no_question: the message that asks for what was withheld has no question mark;
//   - no_refusal: the message that says that no tool fits has no word that denies, such as no, not, none or cannot;
//   - the rules that check reports;
//   - teacher: there is none, for Generate failed. It is asked the same again.
//
// Generate is called Attempts times at most; then the rejection has the reason, path and detail of the last attempt. The
// sample returned is the zero value unless both others are nil. The error is that of ctx, of check or of [Remember]'s file.
func (t *Teacher) Rewrite(ctx context.Context, s midtool.Sample, check Check) (midtool.Sample, *midtool.Rejection, error) {
	p := newPrompt(&s)
	last := midtool.Rejection{Sample: s.ID}
	for range max(1, t.Attempts) {
		if err := ctx.Err(); err != nil {
			return midtool.Sample{}, nil, err
		}
		answer, err := t.Generate(ctx, p.text())
		if stopped := ctx.Err(); stopped != nil {
			return midtool.Sample{}, nil, stopped
		}
		if errors.Is(err, ErrAnswers) {
			return midtool.Sample{}, nil, err
		}
		if err != nil {
			last.Reason, last.Path, last.Detail = "teacher", "", err.Error()
			continue
		}
		out, found, err := attempt(&s, p.texts, answer, check)
		if err != nil {
			return midtool.Sample{}, nil, err
		}
		if len(found) == 0 {
			return out, nil, nil
		}
		last.Reason, last.Path, last.Detail = found[0].Rule, found[0].Path, found[0].Detail
		p.reject(answer, found)
	}
	return midtool.Sample{}, &last, nil
}

// attempt puts an answer into the sample and lists what is wrong with it.
func attempt(s *midtool.Sample, texts []int, answer string, check Check) (midtool.Sample, []midtool.Violation, error) {
	contents, bad := readAnswer(answer, texts)
	if bad != nil {
		return midtool.Sample{}, []midtool.Violation{*bad}, nil
	}
	out := *s
	out.Messages = slices.Clone(s.Messages)
	out.Generator = "teacher"
	for k, i := range texts {
		out.Messages[i].Content, out.Messages[i].Template = contents[k], ""
	}
	found, err := check(&out)
	if err != nil {
		return midtool.Sample{}, nil, err
	}
	found = slices.Concat(found, unfounded(&out, texts), unsaid(s, &out), unspoken(&out, texts))
	return out, found, nil
}

// textsOf lists the messages whose words can be other ones.
func textsOf(s *midtool.Sample) []int {
	var out []int
	for i, m := range s.Messages {
		if (m.Role == midtool.RoleUser || m.Role == midtool.RoleAssistant) && m.Content != "" {
			out = append(out, i)
		}
	}
	return out
}
