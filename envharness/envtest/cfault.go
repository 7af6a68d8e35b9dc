package envtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

const faultText = "envtest: a deliberate fault"

// A componentFault is what goes wrong in a hook.
type componentFault struct {
	happen  func(ctx context.Context) error
	timeout time.Duration // for hooks; zero means the usual
	cause   string        // to be found in the record
}

func checkHookError(ctx context.Context, x *componentTrial) error {
	return x.survive(ctx, componentFault{happen: func(context.Context) error { return errors.New(faultText) }, cause: faultText})
}

func checkHookPanic(ctx context.Context, x *componentTrial) error {
	return x.survive(ctx, componentFault{happen: func(context.Context) error { panic(faultText) }, cause: faultText})
}

func checkHookTimeout(ctx context.Context, x *componentTrial) error {
	return x.survive(ctx, componentFault{timeout: 5 * time.Millisecond, happen: func(ctx context.Context) error {
		<-ctx.Done() // comes when the hook is given up
		return ctx.Err()
	}})
}

// survive lets the fault happen in the first call of each hook of the component in turn.
func (x *componentTrial) survive(ctx context.Context, fault componentFault) error {
	if _, err := x.steady(ctx); err != nil {
		return err
	}
	for _, hook := range slices.Sorted(maps.Keys(x.hooks)) {
		if err := x.surviveIn(ctx, hook, fault); err != nil {
			return fmt.Errorf("in the hook %s: %w", hook, err)
		}
	}
	return nil
}

// surviveIn plays an episode in which the fault happens, and one after it in which it does not.
func (x *componentTrial) surviveIn(ctx context.Context, hook string, fault componentFault) error {
	var book ledger
	armed := true
	faulty := tap{x.New(), func(ctx context.Context, name string, call func() error) error {
		if err := call(); err != nil || name != hook || !armed {
			return err
		}
		armed = false
		return fault.happen(ctx)
	}}
	s := staging{world: seamed(x.World, &book), components: []envharness.Component{faulty}, hook: fault.timeout}
	ep, err := x.one(ctx, s, x.tasks[0])
	if err != nil {
		return err
	}
	switch {
	case ep.Verdict.Status != envharness.Invalid:
		return fmt.Errorf("the verdict is %s, want invalid", ep.Verdict.Status)
	case ep.End != envharness.EndComponentError:
		return fmt.Errorf("the end is %q, want %q", ep.End, envharness.EndComponentError)
	case ep.id(0) == "" || !strings.Contains(ep.Cause, ep.id(0)) || !strings.Contains(ep.Cause, fault.cause):
		return fmt.Errorf("the cause %.120q does not name the component %q and its fault", ep.Cause, ep.id(0))
	case book.opened == 0 || book.opened != book.closed || book.closeErr != nil:
		return fmt.Errorf("%d environments opened, %d closed, error %v", book.opened, book.closed, book.closeErr)
	}
	s.hook, armed = 0, false // on a slow machine another call of a hook may have been late before
	next, err := x.one(ctx, s, x.tasks[0])
	if err != nil {
		return err
	}
	if next.Verdict.Status == envharness.Invalid {
		return fmt.Errorf("the next episode is invalid too: %s", next.Cause)
	}
	return nil
}
