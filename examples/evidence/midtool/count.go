package main

import "github.com/throughline-go/throughline/midtool"

// A diversityResult says how varied the words of one role are.
type diversityResult struct {
	Words    int        `json:"words"`          // that were looked at
	Distinct [4]float64 `json:"distinct"`       // distinct runs of 1, 2, 3, 4 words among all such runs; it falls with the number of words
	Template float64    `json:"template_share"` // of the most frequent template, among the samples
	Example  string     `json:"template"`       // that template
}

// count says what the samples of a corpus consist of.
func (e *evidence) count(samples []midtool.Sample) {
	var s midtool.Summary
	for i := range samples {
		s.Add(&samples[i], 0)
	}
	e.Abilities, e.Families, e.Evidence = s.Abilities, s.Families, make(map[midtool.EvidenceClass]float64)
	for class := range s.Evidence {
		e.Evidence[class] = s.EvidenceShare(class)
	}
	e.Diversity = make(map[midtool.Role]diversityResult)
	for role, d := range map[midtool.Role]midtool.Diversity{midtool.RoleUser: s.User, midtool.RoleAssistant: s.Assistant} {
		e.Diversity[role] = diversityResult{d.Words, d.Distinct, d.TemplateShare, d.TopTemplate}
	}
	for _, role := range []midtool.Role{midtool.RoleUser, midtool.RoleAssistant} {
		d := e.Diversity[role]
		e.claim(d.Template <= 0.02, "diversity: %q of the %s is in %.1f %% of the samples, want at most 2 %%", d.Example, role, 100*d.Template)
	}
	for _, f := range families() {
		e.claim(e.Families[f] > 0, "families: no sample of %s", f)
	}
	for _, a := range []midtool.Ability{midtool.Affordance, midtool.Grounding, midtool.Composition, midtool.Recover} {
		e.claim(e.Abilities[a] > 0, "abilities: no sample of %s", a)
	}
	e.claim(e.Evidence[midtool.EvidenceUngrounded] == 0, "evidence: %.2f %% of the arguments are ungrounded", 100*e.Evidence[midtool.EvidenceUngrounded])
}

// families are those that the generator makes.
func families() []midtool.Family {
	return []midtool.Family{midtool.Single, midtool.Parallel, midtool.Sequential, midtool.MultiTurn, midtool.MissingInfo, midtool.MissingFunction,
		midtool.Irrelevance, midtool.Recovery}
}
