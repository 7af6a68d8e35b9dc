package wording

import (
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// Tables of refusals and of reports (ours).
var (
	cannot = strings.Split(`I cannot %r with the tools I have.|none of my tools can %r.|I have no tool to %r.|`+
		`there is no tool here that lets me %r.|the tools at hand do not let me %r.|to %r I would need a tool that I do not have.|`+
		`I am not able to %r, as no tool here does that.|nothing among my tools can %r.|I lack a tool to %r.|`+
		`my tools do not cover this, so I cannot %r.|with what I have been given I cannot %r.|no tool on offer can %r.|`+
		`I would like to %r, but no tool of mine does it.|that needs a tool to %r, and I have none.|`+
		`I looked through my tools, and none of them can %r.|being able to %r takes a tool that is missing here.`, "|")
	cannotLeads = strings.Split(`sorry. |I am sorry. |unfortunately, |I am afraid this will not work. |thanks for the request. |`+
		`I understand what you need. |let me be open about it: |I have to pass on this. |that is outside what I can do here. |`+
		`I checked. |regrettably, |to be clear: `, "|")
	cannotClosings = strings.Split(`If you add such a tool, I will go on from there.|I have made no call.|`+
		`Please offer a fitting tool and I will try again.|I would rather say so than guess.|Is there something else I can do?|`+
		`Nothing has been changed.|Let me know if a tool for it becomes available.|You may want to do this step by other means.|`+
		`I am glad to help with what my tools cover.|Once there is a tool for it, I can continue.|`+
		`I do not want to make up a result.|So I will leave it at that.`, "|")
	blocks = strings.Split("a request to such a tool could look like this:|"+
		"for illustration, it would take something like this:|what I would need to send is roughly this:|"+
		"here is a sketch of what it would be given:|in outline, the request would be:|"+
		"such a tool would be asked something like this:|to show what I mean, a request could be:", "|")
	blockClosings = strings.Split(`This is only a sketch: I have made no call.|Nothing was sent, since no tool takes it.|`+
		`Take it as an example; no call was made.|It is an illustration and not a call.|`+
		`I cannot send it, as there is nothing to send it to.|That is how it would look; it was not sent.|`+
		`If you offer such a tool, I will use it.`, "|")

	failed = strings.Split(`I could not %r.|I was not able to %r.|I tried to %r, but it failed.|`+
		`the attempt to %r did not succeed.|it was not possible to %r.|I did not manage to %r.|my attempt to %r met an error.|`+
		`I had to give up on the attempt to %r.|the request to %r failed.|I cannot %r at the moment.`, "|")
	failedLeads = strings.Split(`sorry. |unfortunately, |I am sorry. |I am afraid |bad news. |that did not work. |`+
		`there was a problem. |regrettably, |I ran into an error. |this is as far as I got. `, "|")
	reasons = strings.Split(`the error was|the tool reported|the message reads|what came back is|the service answered|`+
		`the reason given is|it said|this is the error|the response was|I was told`, "|")
	failedClosings = strings.Split(`I stop here.|I will not try again without your word.|Please check this on your side.|`+
		`Tell me how you want to go on.|Nothing else was changed.|You may have to clear this up first.|`+
		`Let me know when it is sorted out.|I have left things as they are.|There is nothing more I can do from here.|`+
		`I did not go around it.|Someone with the rights to do so has to fix that.|Once that is settled, I can try again.`, "|")
)

// Cannot is how the assistant says that none of its tools does what the task needs. With code it shows, in a fenced
// JSON block of prose, what such a request could look like, without making a call.
func (w *Writer) Cannot(task *Task, code bool) Text {
	w.start([]Task{*task})
	return w.write(func(p *page) {
		w.maybe(p, 60, cannotLeads)
		request := w.deed(task.Tool)
		p.fill(w.one(cannot), "", "", request)
		if code {
			p.next()
			p.say(w.one(blocks))
			p.say("\n\n```json\n")
			w.block(p, task, request)
			p.say("\n```\n\n")
			p.capital = true
			p.say(w.one(blockClosings))
		} else if w.percent(70) {
			p.next()
			p.say(w.one(cannotClosings))
		}
	})
}

// lead writes a lead that either is a sentence of its own or begins one.
func (w *Writer) lead(p *page, lead string) {
	p.say(lead)
	p.capital = strings.HasSuffix(lead, ". ")
}

// deed is a clause in the words of the assistant: without "me" and "my".
func (w *Writer) deed(t *Tool) string {
	if d := w.done(t); d != "" {
		return d
	}
	return w.one([]string{"do this", "take care of this", "handle this", "see to this", "get this done"})
}

// done is a deed that says what the tool does; empty if every such clause would give something away.
func (w *Writer) done(t *Tool) string {
	for i := range t.said {
		f := &t.said[i]
		at := w.pick(len(f.verbs))
		for j := range f.verbs {
			verb := f.verbs[(at+j)%len(f.verbs)]
			if d := verb + " " + f.object; !strings.Contains(" "+verb+" ", " me ") && !w.leaks(d) {
				return d
			}
		}
		// As in what the user says, an article may keep a verb and its object apart.
		if d := f.verbs[at] + " " + definite(f.object); !strings.Contains(" "+f.verbs[at]+" ", " me ") && !w.leaks(d) {
			return d
		}
	}
	return ""
}

// block writes the JSON of a request that no tool takes: what it is for, in words, and some of the arguments.
func (w *Writer) block(p *page, task *Task, request string) {
	keys := [][2]string{{"wanted", "arguments"}, {"request", "parameters"}, {"tool", "input"}, {"action", "values"}, {"task",
		"details"}}[w.pick(5)]
	n := 0
	quote := func(s string) string { v := jsonval.NewString(s); return v.Encode(jsonval.Display) }
	p.say(`{"` + keys[0] + `": `)
	p.put(`"{request}"`, quote(request), true)
	p.say(`, "` + keys[1] + `": {`)
	for i := range task.Slots {
		s := &task.Slots[i]
		// What could pass for a control marker is left out, and so is what is not to be told.
		if n == 4 || s.Hidden || s.From > 0 || len(s.Keys) != 1 || !tellable(s.Keys[0]) || len(s.Value.Text) > maxFact ||
			strings.ContainsAny(s.Keys[0]+s.Value.Text, "<>|`") {
			continue
		}
		if n > 0 {
			p.say(", ")
		}
		p.put(`"{name}"`, quote(s.Keys[0]), true)
		p.say(": ")
		p.put("{value}", s.Value.Encode(jsonval.Display), true)
		n++
	}
	p.say("}}")
}

// Failed is how the assistant reports that a task could not be done, with the error's message verbatim, and stops.
func (w *Writer) Failed(task *Task, message string) Text {
	w.start(nil)
	w.page.reset()
	p := &w.page
	w.maybe(p, 60, failedLeads)
	p.fill(w.one(failed), "", "", w.deed(task.Tool))
	p.next()
	p.say(w.one(reasons))
	quote := strings.TrimSpace(message) != "" && !strings.ContainsAny(message, "\"\r\n")
	if quote {
		p.say(`: "`)
		p.put("{fact}", message, true)
		p.say(`".`)
		if w.percent(70) {
			p.next()
			p.say(w.one(failedClosings))
		}
		return p.done()
	}
	p.say(":\n\n")
	p.put("{fact}", message, true)
	p.say("\n\n")
	p.capital = true
	p.say(w.one(failedClosings))
	return p.done()
}
