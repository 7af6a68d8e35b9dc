package components_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// observe returns a function that plays calls in a scene within a component and prints what is shown.
func observe(s *scene, c envharness.Component) func(calls ...string) {
	return func(calls ...string) {
		ctx := context.Background()
		h, err := envharness.New(envharness.World{
			New: func(context.Context) (envharness.Environment, error) { return s, nil },
			Verifier: envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
				return envharness.Verdict{Status: envharness.Fail}, nil
			}),
		}, c)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer h.Close()
		o, err := h.Reset(ctx, envharness.ResetOptions{Seed: new(uint64(1))})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("reset: %q\n", o.Text)
		for _, c := range calls {
			for _, a := range actions(c) {
				tr, err := h.Step(ctx, a)
				if err != nil {
					fmt.Println(err)
					return
				}
				fmt.Printf("%s: %q\n", c, tr.Observation.Text)
			}
		}
	}
}

func ExampleCorruptRead() {
	s := still(envharness.Observation{Text: `{"order":"O-17","total":1250}`})
	observe(s, components.CorruptRead{Field: "/total", P: new(1.0), Window: components.Window{Until: 1}})("get", "get")
	// Output:
	// reset: "{\"order\":\"O-17\",\"total\":1250}"
	// get: "{\"order\":\"O-17\",\"total\":1520}"
	// get: "{\"order\":\"O-17\",\"total\":1250}"
}

func ExampleStaleRead() {
	observe(counter(), components.StaleRead{Tools: []string{"get"}})("get", "work", "get", "look")
	// Output:
	// reset: "o0"
	// get: "o1"
	// work: "o2"
	// get: "o1"
	// look: "o4"
}

func ExamplePaginate() {
	s := still(envharness.Observation{Text: `{"orders":["O-1","O-2","O-3"]}`})
	observe(s, components.Paginate{Tools: []string{"get"}, PageSize: 2})("get", "next", "next")
	// Output:
	// reset: "{\"orders\":[\"O-1\",\"O-2\",\"O-3\"]}"
	// get: "{\"orders\":[\"O-1\",\"O-2\"],\"has_more\":true}"
	// next: "{\"orders\":[\"O-3\"],\"has_more\":false}"
	// next: "Error: there is no further page"
}

func ExampleObsNoise() {
	s := still(envharness.Observation{Text: `{"speed":3,"height":10}`})
	observe(s, components.ObsNoise{Fields: []string{"/height"}, P: new(0.5)})("get", "get", "get")
	// Output:
	// reset: "{\"speed\":3,\"height\":10}"
	// get: "{\"speed\":3,\"height\":10}"
	// get: "{\"speed\":3,\"height\":10}"
	// get: "{\"speed\":3}"
}

func ExampleObsDelay() {
	observe(counter(), components.ObsDelay{Delay: new(2)})("get", "get", "get", "stop")
	// Output:
	// reset: "o0"
	// get: "o0"
	// get: "o0"
	// get: "o1"
	// stop: "o4"
}

func ExampleHideKeys() {
	s := still(envharness.Observation{Text: `{"order":"O-17","notes":[{"by":"C-2","says":"late"}]}`})
	observe(s, components.HideKeys{Keys: []string{"/notes/*/by"}})()
	// Output:
	// reset: "{\"order\":\"O-17\",\"notes\":[{\"says\":\"late\"}]}"
}

func ExampleDistractor() {
	pool := []envharness.Tool{
		{Name: "search_archive", Schema: json.RawMessage(`{"type":"object"}`)},
		{Name: "get_weather", Schema: json.RawMessage(`{"type":"object"}`)},
	}
	observe(counter(), components.Distractor{N: new(2), Pool: pool})("get_weather", "get")
	// Output:
	// reset: "o0"
	// get_weather: "No results found."
	// get: "o1"
}
