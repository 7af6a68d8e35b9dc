package baseline

import (
	"context"

	"github.com/throughline-go/throughline/envharness/rigger"
)

// A Procedure finds items for the tasks of a problem.
type Procedure struct {
	Name  string
	About string // what it does, in one sentence
	// Run has the signature of [rigger.Rig]. Budgets and numbers of rollouts are those of the options; Preset, Designer and Objective may be
	// those of the procedure instead, as [Procedures] tells.
	Run func(ctx context.Context, p rigger.Problem, o *rigger.Options) (*rigger.Report, error)
}

// Procedures returns what is to be compared, in a fixed order:
//
//	none    the tasks as they are ([None])
//	random  every random component that can be built ([Random], rigger.Unchecked)
//	band    random components whose screening comes out in the band, without a confirmation ([Random], rigger.Paper)
//	genenv  perturbed components, of which those near one half are kept ([GenEnv], [NearHalf], rigger.Paper)
//	plr     random components, of which those are kept that there is most to learn on ([PLR])
//	rigged  rigger.Gated, with the designer and the objective of the options
//
// Equal options are equal budgets: each gets Attempts and Budget for a task. What it took is in the Cost of its report.
func Procedures() []Procedure {
	rig := func(set func(o *rigger.Options)) func(context.Context, rigger.Problem, *rigger.Options) (*rigger.Report, error) {
		return func(ctx context.Context, p rigger.Problem, o *rigger.Options) (*rigger.Report, error) {
			var own rigger.Options
			if o != nil {
				own = *o
			}
			set(&own)
			return rigger.Rig(ctx, p, &own)
		}
	}
	return []Procedure{
		{"none", "Leaves the tasks as they are.", rig(func(o *rigger.Options) {
			o.Preset, o.Designer = rigger.Gated, None{}
		})},
		{"random", "Accepts every random component that can be built.", rig(func(o *rigger.Options) {
			o.Preset, o.Designer = rigger.Unchecked, Random{}
		})},
		{"band", "Accepts random components on a screening alone.", rig(func(o *rigger.Options) {
			o.Preset, o.Designer = rigger.Paper, Random{}
		})},
		{"genenv", "Perturbs the best components so far and keeps those with a success rate near one half.", rig(func(o *rigger.Options) {
			o.Preset, o.Designer, o.Objective = rigger.Paper, GenEnv{}, NearHalf{}
		})},
		{"plr", "Plays random components, the ones with most to learn again and again, and keeps those.", PLR{}.Run},
		{"rigged", "Looks for components at the flaws of the policy and lets pass what the whole gate lets pass.", rig(func(o *rigger.Options) {
			o.Preset = rigger.Gated
		})},
	}
}
