package baseline

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// All procedures keep to one budget, give one report for one seed, and accept what their names say.
func TestProcedures(t *testing.T) {
	p := hands(3)
	p.Registry = budgets(t)
	o := rigger.Options{
		Seed: 1, NullEpisodes: 1, Baseline: 4, SearchLimit: new(0), Budget: rigger.Budget{Rollouts: 60}, RigInBand: true,
		Objective: rigger.Difficulty{}, Preset: rigger.PaperALFWorld, Designer: None{},
	}
	items := make(map[string]int)
	var names []string
	for _, procedure := range Procedures() {
		names = append(names, procedure.Name)
		given := o
		if procedure.Name == "rigged" {
			given.Designer = nil
		}
		before := given
		r, err := procedure.Run(ctx, p, &given)
		if err != nil {
			t.Errorf("%s: %v", procedure.Name, err)
			continue
		}
		if !reflect.DeepEqual(given, before) {
			t.Errorf("%s changed the options", procedure.Name)
		}
		parallel := given
		parallel.Rollout = envharness.RolloutOptions{Parallel: 2}
		again, err := procedure.Run(ctx, p, &parallel)
		if err != nil || !bytes.Equal(encoded(t, r), encoded(t, again)) {
			t.Errorf("%s: two runs differ: %v", procedure.Name, err)
		}
		if r.Cost.Rollouts() > 60*len(p.Tasks) {
			t.Errorf("%s: %d rollouts are above the budget", procedure.Name, r.Cost.Rollouts())
		}
		if len(r.Tasks) != len(p.Tasks) {
			t.Errorf("%s: %d tasks in the report", procedure.Name, len(r.Tasks))
		}
		if got := r.Tasks[0].Baseline.Valid; got != 4 && procedure.Name != "random" {
			t.Errorf("%s: a baseline of %d rollouts, the options say 4", procedure.Name, got)
		}
		items[procedure.Name] = len(r.Items)
		for _, item := range r.Items {
			if _, err := item.Components(p.Registry); err != nil {
				t.Errorf("%s: %v", procedure.Name, err)
			}
			within := true
			switch rate := item.Counts.Rate(); procedure.Name {
			case "band", "genenv":
				within = item.Counts.Valid == 5 && rate >= 0.4-1e-9 && rate <= 0.6+1e-9
			case "plr":
				within = item.Counts.Valid == 5 && rate > 0 && rate < 1
			case "random":
				within = item.Counts.Valid == 0 && r.Cost.Rollouts() == 0
			case "rigged":
				within = item.Counts.Valid == 16 && rate >= 0.25 && rate <= 0.75
			}
			if !within {
				t.Errorf("%s accepted %v at %v", procedure.Name, item.Words, item.Counts)
			}
		}
	}
	if want := []string{"none", "random", "band", "genenv", "plr", "rigged"}; !reflect.DeepEqual(names, want) {
		t.Errorf("procedures %q, want %q", names, want)
	}
	if items["none"] != 0 || items["random"] != len(p.Tasks) {
		t.Errorf("items %v: none of none, and one for each task of random", items)
	}
	for _, name := range []string{"band", "genenv", "plr", "rigged"} {
		if items[name] == 0 {
			t.Errorf("%s accepted nothing for a policy that half of the budgets bring to one half", name)
		}
	}
}

func TestProceduresTakeNilOptions(t *testing.T) {
	p := hands(1)
	for _, procedure := range Procedures()[:5] {
		if _, err := procedure.Run(ctx, p, nil); err != nil {
			t.Errorf("%s: %v", procedure.Name, err)
		}
		if procedure.About == "" {
			t.Errorf("%s does not say what it does", procedure.Name)
		}
	}
}
