package grounded

import (
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/draw"
)

// A form is a kind of question with the ways to ask it and to answer it. {name}, {of}, {noun} and {text} stand for
// words of the document in the question, {piece} for the answer; all tables here are ours.
type form struct {
	asks, answers []string
	listed        bool // the answer is a list of pieces
}

func ways(s string) []string { return strings.Split(s, "|") }

var (
	// What may stand before a question, and after it.
	askLeads = ways(`||a question about this text: |from the text: |quick question: |I am reading this part. |help me with this: |` +
		`one thing I am not sure about: |according to this, |going by the text, |I am setting this up. |before I start: |for my notes: |` +
		`I am new to this. |just to be sure: |while reading this I wondered: `)
	askClosings = ways(`Answer from the text.|Please stick to the text.|Use its own words.|A short answer will do.|Thanks!|` +
		`Please be brief.|Quote it as it stands.|That is all I need.|Thank you.|I do not need more than that.`)

	// What may stand after an answer.
	answerClosings = ways(`That is what the text says.|The text has no more on this.|So it is written there.|` +
		`That is how the text puts it.|` +
		`This is taken from the text.|I hope this helps.|Let me know if you need more.|Those are the words of the text.|` +
		`Ask on if something is unclear.|It is in the part shown above.`)

	selecting = form{ways("which {noun} would I use to {text}?|which {noun} is the one to {text}?|" +
		"I want to {text}. Which {noun} does that?|what {noun} do I need to {text}?|to {text}, which {noun} should I pick?|" +
		"suppose I have to {text}. Which {noun} is it?|I need to {text}. What is the {noun} for it?|" +
		"is there some {noun} to {text}, and which one?"),
		selectingAnswers, false}
	selectingAnswers = ways("Use `{piece}`.|That is `{piece}`.|The {noun} for that is `{piece}`.|You want `{piece}`.|`{piece}` does that.|" +
		"According to the text, `{piece}`.|The text names `{piece}` for this.|For that there is `{piece}`.|It is `{piece}`.|" +
		"`{piece}` is the one.|" +
		"`{piece}` will do that.|Take `{piece}`.|The right {noun} is `{piece}`.|Go with `{piece}`.|The {noun} you need is `{piece}`.|" +
		"That would be `{piece}`.|`{piece}` is made for this.|The text describes `{piece}` for that.|Pick `{piece}`.|Look at `{piece}`.|" +
		"The answer is `{piece}`.|For this the text has `{piece}`.")
	selectingWhat = form{ways("which {noun} {text}?|I need the {noun} that {text}. Which one is it?|what is the {noun} called that {text}?|" +
		"is there some {noun} that {text}, and which one?|I am looking for the {noun} that {text}.|of what is here, which {noun} {text}?|" +
		"name the {noun} that {text}."),
		selectingAnswers, false}

	extracting = form{ways("write `{of}` as a JSON call with \"name\" and \"arguments\"; the name is {name}.|" +
		"turn `{of}` into a JSON call, with \"name\" {name} and the \"arguments\" it gives.|" +
		"what does `{of}` look like as a JSON call named {name}?|" +
		"give me the arguments in `{of}` as a JSON call; take {name} for the name.|" +
		"I need `{of}` as JSON: the name {name} and its arguments.|" +
		"take the values of `{of}` and write the call {name} in JSON.|" +
		"as a tool call named {name}, what would `{of}` be in JSON?"),
		ways("Written as a call: {piece}|Here it is: {piece}|The call is {piece}|As JSON: {piece}|With its values: {piece}|" +
			"That gives {piece}|" +
			"It becomes {piece}|The same as a call: {piece}|This is the call: {piece}"), false}
	meaning = form{ways("what does the {noun} `{name}`{of} stand for?|what is the {noun} `{name}`{of} for?|" +
		"how is the {noun} `{name}`{of} described?|" +
		"what do I give as the {noun} `{name}`{of}?|what does the text say about the {noun} `{name}`{of}?|" +
		"what is meant by the {noun} `{name}`{of}?|I have to fill in `{name}`{of}. What is it?"),
		ways("Given there: {piece}.|The text says: {piece}.|It is described like this: {piece}.|`{name}`: {piece}.|" +
			"In the words of the text: {piece}.|" +
			"According to the text: {piece}.|This is what it says: {piece}.|The description is: {piece}."), false}
	entry = form{ways("what does `{name}` stand for?|what is `{name}`?|how is `{name}` described?|what does the text say about `{name}`?|" +
		"what is meant by `{name}`?|what is `{name}` about?|I came across `{name}`. What is it?"), meaning.answers, false}
	tabled = form{ways("what does the text say about `{name}`?|what stands beside `{name}`?|what does the table have for `{name}`?|" +
		"what is said there about `{name}`?|I found `{name}` in the table. What belongs to it?"), meaning.answers, false}
	defaulting = form{ways("what is the default of the {noun} `{name}`{of}?|which value does `{name}`{of} have if I leave it out?|" +
		"if I do not set `{name}`{of}, what is used?|what does `{name}`{of} default to?|I will not pass `{name}`{of}. Which value applies?|" +
		"without the {noun} `{name}`{of}, which value is taken?"),
		ways("By default {piece}.|It is {piece}.|The default is {piece}.|It defaults to {piece}.|{piece}, unless you set it.|" +
			"Then it is {piece}.|" +
			"The text gives {piece} as the default.|Without it, {piece} applies."), false}
	typing = form{ways("which type does the {noun} `{name}`{of} have?|what type is `{name}`{of}?|" +
		"what kind of value does `{name}`{of} take?|" +
		"of what type must the {noun} `{name}`{of} be?|how is `{name}`{of} typed?|what do I pass for `{name}`{of}, as far as its type goes?"),
		ways("The type given is {piece}.|It is of type {piece}.|Its type is {piece}.|The text gives the type {piece}.|" +
			"That one takes {piece}.|`{name}` is {piece}.|" +
			"The type is {piece}.|It has the type {piece}."), false}

	ordering = form{ways("what are the steps under \"{text}\", in order?|how does \"{text}\" go, step by step?|" +
		"list the steps of \"{text}\" in their order.|" +
		"in which order are things done in \"{text}\"?|walk me through \"{text}\".|what has to be done for \"{text}\", one after the other?"),
		orderingAnswers, true}
	orderingHere = form{ways("what are the steps, in order?|how does this go, step by step?|list the steps in their order.|" +
		"in which order are things done here?|walk me through the steps.|what has to be done, one after the other?|" +
		"which steps does this describe?"),
		orderingAnswers, true}
	starting = form{ways("what are the first {noun} steps of \"{text}\"?|how does \"{text}\" begin? The first {noun} steps are enough.|" +
		"name the first {noun} steps under \"{text}\".|which {noun} steps come first in \"{text}\"?|" +
		"with which {noun} steps does \"{text}\" start?|" +
		"\"{text}\": what do I do in the first {noun} steps?"),
		orderingAnswers, true}
	startingHere = form{ways("what are the first {noun} steps?|how does this begin? The first {noun} steps are enough.|" +
		"name the first {noun} steps.|" +
		"which {noun} steps come first?|with which {noun} steps does this start?|what do I do in the first {noun} steps?"),
		orderingAnswers, true}
	orderingAnswers = ways("Step by step:\n{piece}|In this order:\n{piece}|The steps are:\n{piece}|It goes like this:\n{piece}|" +
		"One after the other:\n{piece}|" +
		"The text gives this order:\n{piece}|Do this:\n{piece}|Here they are:\n{piece}")

	preceding = form{ways("what has to be done right before this: \"{text}\"?|which step comes just before \"{text}\"?|" +
		"I am about to do this: \"{text}\". What should I have done just before?|what precedes the step \"{text}\"?|" +
		"before \"{text}\", which step is there?|\"{text}\" is next. Which step did I have to finish first?"),
		ways("Just before: {piece}.|That step is: {piece}.|Right before it: {piece}.|First you do this: {piece}.|" +
			"The step before it is: {piece}.|" +
			"By the text it is: {piece}.|It comes after this one: {piece}.|You should have done this: {piece}."), false}
	requiring = form{ways("what does the {noun} `{of}` require?|which arguments must I have before I can call `{of}`?|" +
		"what has to be given for `{of}`?|" +
		"what do I need to know before using `{of}`?|which values does the {noun} `{of}` not work without?|what must be filled in for `{of}`?"),
		ways("It needs {piece}.|What it asks for: {piece}.|You need {piece}.|Required: {piece}.|It takes {piece}.|" +
			"Without {piece} it does not work.|" +
			"Have {piece} ready.|The text asks for {piece}."), false}

	returning = form{ways("what does the {noun} `{of}` give back?|what comes back from `{of}`?|what do I get from the {noun} `{of}`?|" +
		"after calling `{of}`, what do I have?|what is the result of `{of}`?|what does `{of}` return?|" +
		"what can I work with once `{of}` is through?"),
		ways("Back comes {piece}.|It returns {piece}.|You get {piece}.|The result is {piece}.|What comes back is {piece}.|" +
			"The text says that it returns {piece}.|" +
			"It gives you {piece}.|Afterwards you have {piece}.|It hands back {piece}.|" +
			"What you have then is {piece}.|Its result: {piece}.|You receive {piece}.|It produces {piece}.|The outcome is {piece}.|" +
			"It answers with {piece}.|From it you get {piece}.|It yields {piece}."), false}
	feeding = form{ways("`{of}` takes {name}. Which {noun} gives it to me?|where does the {name} for `{of}` come from?|" +
		"I want to call `{of}` and lack the {name}. Which {noun} do I call first?|which {noun} produces the {name} that `{of}` takes?|" +
		"before `{of}` I need a {name}: from which {noun}?"),
		ways("From `{piece}`.|Call `{piece}` first.|`{piece}` gives it to you.|It comes from `{piece}`.|That is what `{piece}` is for.|" +
			"Use `{piece}` and take it from the result.|You get it from `{piece}`.|Start with `{piece}`."), false}

	arising = form{ways("when does `{name}` come up?|in which case do I get `{name}`?|what leads to `{name}`?|" +
		"under which condition is there `{name}`?|" +
		"I got `{name}`. What is the case?|what makes `{name}` happen?|my call ended with `{name}`. Why can that be?"),
		ways("When {piece}.|If {piece}.|It comes up when {piece}.|The text says: when {piece}.|You get it if {piece}.|In one case: {piece}.|" +
			"That happens when {piece}.|It means this: {piece}."), false}
	meaningOf = form{ways("what does `{name}` mean?|I got `{name}`. What does that tell me?|how is `{name}` explained?|" +
		"how do I read `{name}`?|" +
		"my call ended with `{name}`. What went wrong?|what is `{name}` about?|what does the text say about `{name}`?"),
		ways("The meaning: {piece}.|It means: {piece}.|The text explains it so: {piece}.|`{name}`: {piece}.|In its words: {piece}.|" +
			"That tells you this: {piece}.|The text says about it: {piece}.|What it says is: {piece}."), false}
	breaking = form{ways("when does `{of}` fail?|what makes `{of}` fail?|under which condition does `{of}` not work?|" +
		"`{of}` failed. What can be the case?|" +
		"in which case is there an error from `{of}`?|what should I watch out for with `{of}`?"),
		ways("When {piece}.|If {piece}.|It fails when {piece}.|The text says: when {piece}.|It does not work if {piece}.|" +
			"In one case: {piece}.|" +
			"That happens when {piece}."), false}

	// The parts of a conversation that goes through the steps of a list.
	walkStarts = ways(`how do I start with "{text}"?|I want to go through "{text}". What is first?|where does "{text}" begin?|` +
		`what is the first step of "{text}"?|` +
		`let us do "{text}" together. What do I do first?|"{text}": what comes first?`)
	walkStartsHere = ways(`how do I start?|I want to go through this. What is first?|where does this begin?|what is the first step?|` +
		`let us do this together. What do I do first?|what comes first here?`)
	walkClosings = ways(` Tell me when it is done.| Then we go on.| Let me know when you are through.| Say when you are ready.|` +
		` Take your time.|` +
		` After that there is more.| Come back when that is done.| I will wait.| Then ask for the next one.| That is all for this step.`)
	walkDones = ways(`Done. |All right. |That worked. |Okay. |I have done that. |Good. |Fine. |Finished. |That is done. |Ready. `)
	walkNexts = ways(`What comes next?|And then?|What is next?|What do I do after that?|And now?|What follows?|What is the next step?|` +
		`How does it go on?|What now?|Which step is next?`)
	walkAnswers = ways("Now: {piece}.|Do this: {piece}.|This one: {piece}.|The step is: {piece}.|You do the following: {piece}.|" +
		"Like this: {piece}.|" +
		"The text says: {piece}.|Here is the step: {piece}.")

	// How the system shows what it shows.
	textLeads = ways("Answer from this text.|This is part of a document. Answer questions from it.|Use the following text.|" +
		"Here is a part of the documentation.|The answer is in this text.|Read this and answer.|Documentation:|Excerpt from a document:|" +
		"Stay with what this text says.|You answer questions about this text.")
	toolLeads = ways("The tools are documented like this.|This is what the documentation says.|Use the tools. Their documentation:|" +
		"You can call tools. From their documentation:|Help the user with the tools. Documentation:|Part of the documentation of the tools:|" +
		"You work with tools that this text describes.|What is known about the tools:|From the manual of the tools:")
	// What refers to a value in the document.
	farValues = ways(` For the {name}, take the value that the documentation shows.| The {name} is the one in the documentation.|` +
		` Use the {name} from the documentation.| As the {name}, use what the documentation has.| You find the {name} in the documentation.|` +
		` Take the {name} from the text above.`)
)

// said is a text with the template that it follows.
type said struct{ text, template string }

// fill puts words into the fields of a template, each of which is given with its name.
func fill(template string, pairs ...string) said {
	return said{strings.NewReplacer(pairs...).Replace(template), template}
}

// say words the question.
func (q *question) say(d *draw.Draws) said {
	lead, ask := draw.One(d, askLeads), draw.One(d, q.form.asks)
	if lead == "" || strings.HasSuffix(lead, ". ") {
		ask = upper(ask)
	}
	template := upper(lead) + ask
	if d.Pick(100) < 45 {
		template += " " + draw.One(d, askClosings)
	}
	of := q.fields.of
	if q.form == &meaning || q.form == &defaulting || q.form == &typing {
		if of != "" {
			of = " of `" + of + "`"
		}
	}
	return fill(template, "{name}", q.fields.name, "{of}", of, "{noun}", q.fields.noun, "{text}", q.fields.text)
}

// answer words the answer.
func (q *question) answer(d *draw.Draws) said {
	template := draw.One(d, q.form.answers)
	piece := q.pieces[0]
	switch {
	case q.form.listed:
		piece = listing(d, q.pieces)
	case len(q.pieces) > 1:
		piece = strings.Join(q.pieces[:len(q.pieces)-1], ", ") + " and " + q.pieces[len(q.pieces)-1]
	case strings.HasSuffix(template, "{piece}.") && strings.IndexByte(".!?", piece[len(piece)-1]) >= 0:
		template = strings.TrimSuffix(template, ".")
	case strings.Contains(piece, "`"):
		template = strings.ReplaceAll(template, "`{piece}`", "{piece}")
	}
	if d.Pick(100) < 45 {
		gap := " "
		if q.form.listed || q.form == &extracting {
			gap = "\n"
		}
		template += gap + draw.One(d, answerClosings)
	}
	return fill(template, "{piece}", piece, "{name}", q.fields.name, "{noun}", q.fields.noun)
}

// listing writes pieces one a line.
func listing(d *draw.Draws, pieces []string) string {
	var b strings.Builder
	style := d.Pick(3)
	for i, p := range pieces {
		if i > 0 {
			b.WriteByte('\n')
		}
		switch {
		case style == 0:
			b.WriteString(string(rune('1'+i)) + ". ")
		case style == 1:
			b.WriteString("- ")
		case i == 0:
			b.WriteString("First: ")
		case i == len(pieces)-1:
			b.WriteString("Finally: ")
		default:
			b.WriteString("Then: ")
		}
		b.WriteString(p)
	}
	return b.String()
}

// upper begins a text with a capital letter.
func upper(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}
