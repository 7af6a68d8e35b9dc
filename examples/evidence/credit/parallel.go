package main

import (
	"context"
	"math/rand/v2"
	"sync"
)

// The purposes of random numbers.
const (
	lawPurpose uint64 = iota + 1
	propertyPurpose
	gradientPurpose
	timingPurpose
)

// stream returns the generator of one number of one row of one purpose, so that no result depends on who computes what.
func stream(seed, purpose uint64, row, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, purpose<<56|uint64(row)<<32|uint64(number)))
}

// parallel calls do for 0 to n-1 by so many workers, and returns the error of ctx if that ends before all are called.
func parallel(ctx context.Context, workers, n int, do func(i int)) error {
	work := make(chan int)
	var wait sync.WaitGroup
	for range max(1, workers) {
		wait.Go(func() {
			for i := range work {
				if ctx.Err() == nil {
					do(i)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wait.Wait()
	return ctx.Err()
}
