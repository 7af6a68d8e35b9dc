package wording

import (
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// Tables of questions and of what answers them (ours).
var (
	askLeads = strings.Split(`sure. |happy to help. |I can do that. |of course. |certainly. |gladly. |before I go on: |`+
		`I am almost ready. |no problem. |one thing first: |understood. |okay. |yes, I can help with that. |that is possible. |`+
		`just one question: |all right. `, "|")
	questions = strings.Split(`which %p should I use?|what is the %p?|could you tell me the %p?|can you give me the %p?|`+
		`what should the %p be?|what would you like as the %p?|I still need the %p. What is it?|`+
		`I am missing the %p. Could you add it?|to go ahead I need the %p.|please tell me the %p.|may I have the %p?|`+
		`what do you want for the %p?|the %p is missing. What should it be?|`+
		`your request does not give the %p. What is it?|what value should I use for the %p?|would you let me know the %p?|`+
		`which %p do you have in mind?|I cannot start without the %p. What is it?|the %p is required. Could you provide it?`, "|")
	questionsMany = strings.Split(`which values should I use for the %p?|could you tell me the %p?|`+
		`can you give me the %p?|what do you want as the %p?|I still need the %p. What are they?|`+
		`I am missing the %p. Could you add them?|to go ahead I need the %p.|please tell me the %p.|may I have the %p?|`+
		`what would you like for the %p?|your request does not give the %p. What are they?|what should I use for the %p?|`+
		`would you let me know the %p?|I cannot start without the %p. Could you provide them?`, "|")
	askClosings = strings.Split(`Then I can go ahead.|With that I can make the call.|I will start as soon as I have it.|`+
		`The rest is clear.|Everything else is set.|I would rather ask than guess.|After that I have all I need.|`+
		`Then I will get it done.`, "|")

	supplyLeads = strings.Split(`sorry, I forgot. |oh, right. |good point. |yes, of course. |ah, sorry. |sure. |`+
		`you are right. |here you go. |right, I left that out. |thanks for asking. |my mistake. |fair question. |okay. |`+
		`I should have said so. |no problem. |of course. `, "|")
	supplyBare = strings.Split(`it is %v.|please use %v.|please take %v.|I mean %v.|go with %v.|I want %v.|`+
		`I was thinking of %v.|make it %v.|that would be %v.|let us use %v.|that is %v.|I had %v in mind.`, "|")
	supplyClosings = strings.Split(`Thanks!|Thank you.|Go ahead.|Now you can start.|That should be all.|Please go on.|`+
		`Is that enough?|Thanks for checking.|Please continue.|Now it is complete.`, "|")
)

// Question is how the assistant asks for the hidden slots of a task, by the description of the parameter. It tells no
// value.
func (w *Writer) Question(task *Task) Text {
	w.start([]Task{*task})
	return w.write(func(p *page) {
		phrases, many := w.hidden(task)
		w.maybe(p, 70, askLeads)
		formats := questions
		if many {
			formats = questionsMany
		}
		before, after, _ := strings.Cut(w.one(formats), "%p")
		p.say(before)
		for i, phrase := range phrases {
			switch {
			case i > 0 && i == len(phrases)-1:
				p.say(" and the ")
			case i > 0:
				p.say(", the ")
			}
			p.put("{name}", phrase, false)
		}
		p.say(after)
		if w.percent(45) {
			p.next()
			p.say(w.one(askClosings))
		}
	})
}

// hidden names the hidden slots, each parameter once. many says whether the names ask for a plural.
func (w *Writer) hidden(task *Task) (phrases []string, many bool) {
	var named []item
	for i := range task.Slots {
		s := &task.Slots[i]
		if !s.Hidden || i > 0 && task.Slots[i-1].Hidden && inList(&task.Slots[i-1]) && sameListHidden(&task.Slots[i-1], s) {
			continue
		}
		it := item{slots: task.Slots[i : i+1]}
		w.name(&it, named)
		if w.leaks(it.phrase) {
			it.phrase = "value"
		}
		s.called = it.phrase
		named = append(named, it)
		if s.Value.Kind == jsonval.Bool {
			it.phrase = "setting for " + it.phrase
		}
		phrases = append(phrases, it.phrase)
		many = many || it.many()
	}
	if len(phrases) == 0 {
		phrases = append(phrases, "missing value")
	}
	return phrases, many || len(phrases) > 1
}

// sameListHidden says whether two hidden slots stand in one list.
func sameListHidden(a, b *Slot) bool {
	open := *b
	open.Hidden = false
	return sameList(a, &open)
}

// maybe writes one of the leads, p times in a hundred.
func (w *Writer) maybe(p *page, percent int, leads []string) {
	if w.percent(percent) {
		w.lead(p, w.one(leads))
	}
}

// Supply is how the user gives the hidden slots of a task, in answer to the question; it fills their Text.
func (w *Writer) Supply(task *Task) Text {
	shown := Task{Tool: task.Tool}
	var at []int
	for i := range task.Slots {
		if s := task.Slots[i]; s.Hidden {
			s.Hidden, s.From = false, 0
			shown.Slots = append(shown.Slots, s)
			at = append(at, i)
		}
	}
	// The other values are no secret of this turn: those said are said, those of results the user does not know.
	w.start(nil)
	t := w.write(func(p *page) {
		items := w.items(&shown)
		w.maybe(p, 50, supplyLeads)
		if len(items) == 1 && items[0].plain == "" && w.percent(35) {
			p.fill(w.one(supplyBare), "", items[0].value, "")
		} else if len(items) > 2 {
			p.say("here are the values: ")
			for i := range items {
				switch {
				case i > 0 && i == len(items)-1:
					p.say(" and ")
				case i > 0:
					p.say(", ")
				}
				if items[i].plain != "" {
					w.plain(p, &items[i])
				} else {
					p.fill("%p %v", items[i].phrase, items[i].value, "")
				}
			}
			p.end(".")
		} else {
			for i := range items {
				if i > 0 {
					p.next()
				}
				w.sentence(p, &items[i])
			}
			if len(items) == 0 {
				p.say("I have nothing to add.")
			}
		}
		if few := strings.Count(string(p.text), " ") < 2; few || w.percent(40) {
			p.next()
			p.say(w.one(supplyClosings))
		}
	})
	for k, i := range at {
		task.Slots[i].Text = shown.Slots[k].Text
	}
	return t
}
