package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is wrong with a reply beyond its form. They stand in the chain of ErrReply; no caller has anything else to do about them.
var (
	errManySkills       = errors.New("want exactly one skill")
	errEmptyDescription = errors.New("the description is empty, but there is a body")
	errEmptyBody        = errors.New("there is a description, but the body is empty")
)

// maxLessons is the most notes of a skill that was made of a success and a failure, as in the skill bank of arXiv:2608.19880.
const maxLessons = 3

const (
	promptRules = `Rules:
- One skill, of what is shown below and nothing else. It may have failed: do not present a refused action as a step.
- No values of this episode: no e-mail addresses, passwords, tokens, identifiers, names of persons or things, dates or amounts.
  Where one is needed, name its kind, for example <email>.
- The known skills are listed, each as "name: description". Do not repeat what one of them covers.
- The description is one line of at most 1024 characters: what the skill does and when to use it. The skill is found by it alone.
`
	promptText = `The content is a list of Markdown bullets. The first is the procedure, its steps in order and parted by arrows:
- Procedure: first step → second step → third step
Each further bullet is one fact that a capable agent would not expect. The order of these facts means nothing, and none refers to
another, so that more can be added later. Leave them out if nothing was surprising.
`
	replyText = `Reply with one JSON object and nothing else:
{"description": "...", "content": "- Procedure: ... → ...\n- ..."}
If there is nothing to learn that is not known already, reply {"description": "", "content": "none"}.
`
	promptCode = `The implementation is Python source with exactly one function at the top level. Imports and what it needs of other functions stand
inside it. Its parameters are the values that differ from task to task. Caveats are comments. It calls the tools of the episode under
their names.
`
	replyCode = `Reply with one JSON object and nothing else, its list with one function:
{"functions": [{"name": "...", "description": "...", "implementation": "def ...(...):\n    ..."}]}
The name is that of the function. If there is nothing to learn that is not known already, reply {"functions": []}.
`
)

// generate asks the model for one skill of a span that has been scanned, in the format of the options, and returns the first that can be
// used and that accept takes.
//
// A reply that cannot be used is asked for again with what was wrong, Retries times. refused holds what was wrong with each, and for the
// one taken its unknown keys. The error is ErrTrivial if the model finds nothing to learn, ErrReply with refused after the last reply, and
// the own error of the model, the embedder or ctx. Equal arguments give equal prompts.
func (in *induction) generate(ctx context.Context, span Span, accept func(*Document) error) (doc *Document, refused []error, err error) {
	prompt, err := in.prompt(ctx, span)
	if err != nil {
		return nil, nil, err
	}
	use := textReply
	if in.o.Format == FormatCode {
		use = codeReply
	}
	return askSkill(ctx, in.o, prompt, use, accept)
}

// generateContrast is generate for a text skill of what this successful episode of a task did and a failed one did not, with at most
// maxLessons notes.
func (in *induction) generateContrast(ctx context.Context, failure *induction,
	accept func(*Document) error) (doc *Document, refused []error, err error) {
	prompt, err := in.contrastPrompt(ctx, failure)
	if err != nil {
		return nil, nil, err
	}
	use := func(reply string) (*Document, error, error) {
		doc, warning, err := textReply(reply)
		if err == nil {
			if n := len(ParseTextBody(doc.Content).Notes); n > maxLessons {
				return nil, nil, fmt.Errorf("has %d facts beside the procedure, want at most %d", n, maxLessons)
			}
		}
		return doc, warning, err
	}
	return askSkill(ctx, in.o, prompt, use, accept)
}

func askSkill(ctx context.Context, o *InduceOptions, prompt string, read func(reply string) (doc *Document, warning, err error),
	accept func(*Document) error) (doc *Document, refused []error, err error) {
	var warning error
	refused, err = ask(ctx, o.Generate, prompt, o.Retries, func(reply string) (bool, error) {
		d, w, err := read(reply)
		switch {
		case errors.Is(err, ErrTrivial):
			warning = w
			return true, ErrTrivial
		case err != nil:
			return false, err
		}
		// Of the document, not of the reply: escapes hide text in JSON, and what is joined to one line can match.
		if found := cmp.Or(steers("name", d.Name()), steers("description", d.Description()), steers("body", d.Content)); found != "" {
			return false, fmt.Errorf("%w: %s", ErrUnsafe, found)
		}
		if _, err := Marshal(d); err != nil {
			return false, err
		}
		if accept != nil {
			if err := accept(d); err != nil {
				return false, err
			}
		}
		doc, warning = d, w
		return false, nil
	})
	if warning != nil {
		refused = append(refused, &replyError{len(refused) + 1, warning})
	}
	return doc, refused, err
}

// prompt asks for a skill of a span.
func (in *induction) prompt(ctx context.Context, span Span) (string, error) {
	subtask := cmp.Or(in.o.Subtask, spanMarker(in.traj, span))
	episode, _, err := promptEpisode(in.traj, span, subtask, maxEpisodeData)
	if err != nil {
		return "", err
	}
	known, err := in.known.near(ctx, spanText(in.traj, span, subtask))
	if err != nil {
		return "", err
	}
	format, reply := promptText, replyText
	if in.o.Format == FormatCode {
		format, reply = promptCode, replyCode
	}
	instructions := "You write skills: short pieces of know-how that help an agent with later tasks of the same kind. Below is what an agent did in\n" +
		"one episode, or in the part of it that served one subtask. Write down what carries over to other tasks.\n\n" + promptRules + "\n" + format
	return writePrompt(instructions, []promptPart{{"KNOWN SKILLS", known}, {"EPISODE", episode}}, reply), nil
}

func (in *induction) contrastPrompt(ctx context.Context, failure *induction) (string, error) {
	parts := []promptPart{{title: "KNOWN SKILLS"}, {title: "SUCCESS"}, {title: "FAILURE"}}
	var err error
	for i, traj := range []Trajectory{in.traj, failure.traj} {
		whole := Span{0, len(traj.Steps)}
		if parts[i+1].data, _, err = promptEpisode(traj, whole, in.o.Subtask, maxEpisodeData/2); err != nil {
			return "", err
		}
	}
	text := spanText(in.traj, Span{0, len(in.traj.Steps)}, in.o.Subtask)
	if parts[0].data, err = in.known.near(ctx, text); err != nil {
		return "", err
	}
	instructions := "You write skills: short pieces of know-how that help an agent with later tasks of the same kind. Below are two episodes of one\n" +
		"task, one that solved it and one that did not. Write down what the success did and the failure did not.\n\n" + promptRules + "\n" + promptText +
		fmt.Sprintf("Give at most %d of these facts: what to do instead of what the failure did.\n", maxLessons)
	return writePrompt(instructions, parts, replyText), nil
}

// spanText is what known skills are compared with: what the span is for and the actions.
func spanText(traj Trajectory, span Span, subtask string) string {
	lines := []string{cmp.Or(subtask, traj.Task)}
	for _, s := range traj.Steps[span.Start:span.End] {
		if isAction(s) {
			lines = append(lines, s.Name)
		}
	}
	return valid(strings.Join(lines, "\n"))
}

// textReply reads a reply with a text skill. warning names unknown keys. The error is ErrTrivial for an empty skill.
func textReply(reply string) (doc *Document, warning, err error) {
	v, err := decodeReply(reply)
	if err != nil {
		return nil, nil, err
	}
	o, ok := v.(object)
	if !ok {
		if list, ok := v.([]any); ok && len(list) > 1 {
			return nil, nil, fmt.Errorf("is a list of %d: %w", len(list), errManySkills)
		}
		return nil, nil, fmt.Errorf("is %s, want an object", jsonKind(v))
	}
	warning = o.unknown("description", "content")
	description, err := o.text("description")
	if err != nil {
		return nil, nil, err
	}
	content, err := o.text("content")
	if err != nil {
		return nil, nil, err
	}
	description = strings.TrimSpace(description)
	none := strings.TrimSpace(content)
	empty := none == "" || strings.EqualFold(none, "none")
	switch {
	case description == "" && empty:
		return nil, warning, ErrTrivial
	case description == "":
		return nil, nil, errEmptyDescription
	case empty:
		return nil, nil, errEmptyBody
	}
	if err := checkDescription(description); err != nil {
		return nil, nil, err
	}
	for _, r := range content {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return nil, nil, fmt.Errorf("has the control character %U in the content", r)
		}
	}
	body, err := readTextBody(content)
	if err != nil {
		return nil, nil, fmt.Errorf("has two procedures in the content: %w", errManySkills)
	}
	if len(body.Procedure) == 0 {
		return nil, nil, errors.New(`has no bullet "- Procedure: a → b" in the content`)
	}
	return &Document{
		Frontmatter: Frontmatter{Name: slug(description), Description: description},
		Content:     body.String(),
	}, warning, nil
}

// codeReply reads a reply with a code skill.
func codeReply(reply string) (doc *Document, warning, err error) {
	v, err := decodeReply(reply)
	if err != nil {
		return nil, nil, err
	}
	o, ok := v.(object)
	if !ok {
		return nil, nil, fmt.Errorf("is %s, want an object", jsonKind(v))
	}
	list, ok := o.values["functions"].([]any)
	if !ok {
		return nil, nil, errors.New(`has no list under "functions"`)
	}
	warning = o.unknown("functions")
	switch len(list) {
	case 0:
		return nil, warning, ErrTrivial
	case 1:
	default:
		return nil, nil, fmt.Errorf("has %d functions: %w", len(list), errManySkills)
	}
	f, ok := list[0].(object)
	if !ok {
		return nil, nil, fmt.Errorf("has %s in the list of functions, want an object", jsonKind(list[0]))
	}
	if w := f.unknown("name", "description", "implementation"); w != nil {
		warning = errors.Join(warning, w)
	}
	var texts [3]string
	for i, key := range []string{"name", "description", "implementation"} {
		if texts[i], err = f.text(key); err != nil {
			return nil, nil, err
		}
	}
	name, description, source := texts[0], strings.TrimSpace(texts[1]), unixLines(texts[2])
	none := strings.TrimSpace(source)
	empty := none == "" || strings.EqualFold(none, "none")
	switch {
	case description == "" && empty:
		return nil, warning, ErrTrivial
	case description == "":
		return nil, nil, errEmptyDescription
	case empty:
		return nil, nil, errEmptyBody
	}
	if err := checkDescription(description); err != nil {
		return nil, nil, err
	}
	defined, err := pythonFunction(source)
	if err != nil {
		return nil, nil, fmt.Errorf("implementation %w", err)
	}
	if defined != name {
		return nil, nil, fmt.Errorf("has the name %.60q, but its function is %.60q", name, defined)
	}
	return &Document{
		Frontmatter: Frontmatter{Name: slug(name), Description: description},
		Content:     pythonBody(source),
	}, warning, nil
}

// checkDescription keeps a description to one line of the length that the format allows.
func checkDescription(s string) error {
	for _, r := range s {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return fmt.Errorf("has %U in the description, want one line", r)
		}
	}
	if n := utf8.RuneCountInString(s); n > maxDescription {
		return fmt.Errorf("has a description of %d characters, want at most %d", n, maxDescription)
	}
	return nil
}
