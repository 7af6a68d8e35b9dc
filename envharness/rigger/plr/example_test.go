package plr_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness/rigger/plr"
)

// Tasks are drawn by what there is to learn on them, p(1-p) for a success rate p, and now and then because they have waited.
func ExampleBuffer() {
	b, err := plr.New[string](&plr.Options{Beta: new(1.0), Rho: new(0.2)})
	if err != nil {
		log.Fatal(err)
	}
	for _, task := range []struct {
		name string
		p    float64
	}{{"mastered", 1}, {"at the border", 0.5}, {"hopeless", 0.02}} {
		if _, err := b.Put(task.name, task.p*(1-task.p)); err != nil {
			log.Fatal(err)
		}
	}
	i := 0
	for name, score := range b.All() {
		fmt.Printf("%-13s score %.4f, drawn with probability %.3f\n", name, score, b.Probabilities()[i])
		i++
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		name, _ := b.Draw(rng)
		fmt.Println(name)
	}

	// The policy has learnt the one at the border, and the hopeless one is given up.
	if _, err := b.Put("at the border", 0); err != nil {
		log.Fatal(err)
	}
	b.Remove("hopeless")
	score, _ := b.Score("at the border")
	fmt.Println(b.Len(), "left, score", score)
	// Output:
	// mastered      score 0.0000, drawn with probability 0.279
	// at the border score 0.2500, drawn with probability 0.503
	// hopeless      score 0.0196, drawn with probability 0.218
	// at the border
	// at the border
	// at the border
	// 2 left, score 0
}
